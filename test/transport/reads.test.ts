// Each read of a played Mission: the shapes of docs/http-api.md, and the protocol's documents in them valid as such.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDocument, type DocumentName } from '../../src/protocol/documents/catalogue.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { stateHash } from '../../src/wire/state-document.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, path, refusalIn, type Shown } from './api.ts';

const TEXT = 'Plan: first the code, then the tests.';

describe.each(STORES)('$name: reading a Mission', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let ada: ActorKey;
  let bob: ActorKey;
  let mission: Mission;
  let group: string;
  const items: Record<'active' | 'queued' | 'open' | 'offered' | 'verified', string> = {
    active: '',
    queued: '',
    open: '',
    offered: '',
    verified: '',
  };

  // One played Mission for all: every test here only reads.
  beforeAll(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    api = new Api(tenant);
    olga = await tenant.human('olga');
    ada = await tenant.agent('ada');
    bob = await tenant.agent('bob');
    mission = await Mission.create(tenant, olga, ada);
    group = `/groups/${path(mission.groupId)}`;
    await mission.join(bob);
    const first = await mission.active(bob);
    items.verified = first.workItemId;
    const usage = 'ext.missionweaveprotocol.core.resource_usage_record';
    await mission.accept(bob, usage, { ...first, usageDelta: { modelTokens: 7 } });
    const checkpoint = { phase: 'half way', completedMilestones: ['one'], nextStep: 'two', createdAt: tenant.now() };
    await mission.accept(bob, 'work.checkpoint', { ...first, checkpoint });
    await mission.finish(bob, await mission.start(bob, first.workItemId));
    const active = await mission.active(bob);
    items.active = active.workItemId;
    await mission.publish(bob, active, 'more code');
    await mission.accept(bob, usage, { ...active, usageDelta: { modelTokens: 5 } });
    items.queued = await mission.queued(bob, { executionApproval: 'human_required' });
    items.open = await mission.authorize();
    items.offered = await mission.authorize();
    await mission.offer(items.offered, [bob]);
    await mission.accept(bob, 'work.propose', { proposalId: id(), contract: mission.contract() });
    const { json } = await api.get(olga, group);
    await mission.say(ada, TEXT, json.group.mainConversationId);
  });
  afterAll(() => opened.close());

  function expectValid(name: DocumentName, documents: unknown[]): void {
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) expect(checkDocument(name, document)).toMatchObject({ valid: true });
  }
  const list = (below: string) => api.all(ada, `${group}/${below}`);

  it('/me: the principal, its Session Epoch and its Memberships', async () => {
    const { json } = await api.get(ada, '/me');
    expect(json).toMatchObject({
      organizationId: tenant.organization.organizationId,
      principal: ada.principal,
      sessionEpoch: 1,
      memberships: [
        {
          groupId: mission.groupId,
          missionId: mission.missionId,
          state: 'active',
          membershipEpoch: 1,
          roles: ['coordinator'],
          visibilityStartSequence: 1,
        },
      ],
    });
    expectValid('membership', json.memberships[0]?.documents ?? []);
  });

  it('/missions: the Mission with its texts, valid as a document, details beside it', async () => {
    const one = (await api.get(bob, `/missions/${path(mission.missionId)}`)).json;
    expectValid('mission', [one.mission]);
    expect(one.mission.objective).toBe('Ship the release');
    expect(one.details).toEqual({ title: 'A release', permissions: [], submissions: [] });
    expect(await api.all(bob, '/missions')).toEqual([one]);
  });

  it('/groups/{id}: the Group with the head of its sequence and its revision', async () => {
    const { json } = await api.get(bob, group);
    expectValid('group', [json.group]);
    const { headSequence } = json;
    const head = await opened.store.read(tenant.organization.organizationId, (reader) =>
      reader.stream(mission.groupId),
    );
    expect([headSequence, json['groupRevision']]).toEqual([head?.position, head?.revision]);
  });

  it('/work-items: in every state valid as documents, found by state and by id', async () => {
    const all = await list('work-items');
    expectValid(
      'work-item',
      all.map(({ workItem }) => workItem),
    );
    const stateOf = new Map(all.map(({ workItem }) => [workItem.workItemId, workItem.state]));
    expect(Object.entries(items).map(([state, workItemId]) => [state, stateOf.get(workItemId)])).toEqual(
      Object.keys(items).map((state) => [state, state]),
    );
    expect(all[0]?.workItem.contract.goal).toBe('Write the code');
    const some = await api.get(ada, `${group}/work-items?state=open,offered`);
    expect(some.json.items.map(({ workItem }) => workItem.state).sort()).toEqual(['offered', 'open']);
    const one = await api.get(bob, `${group}/work-items/${path(items.active)}`);
    expect(one.json).toEqual(all.find(({ workItem }) => workItem.workItemId === items.active));
    expect(one.json.details).toMatchObject({ ownershipEpoch: 1, artifactIds: [expect.any(String)] });
    expect(typeof one.json.details['executionLeaseId']).toBe('string');
  });

  it('T-2: a queued item that waits for an Execution Approval says so, and the flag goes with the approval', async () => {
    const flags = async () => {
      const all = await list('work-items');
      return all
        .filter(({ details }) => details['awaitingExecutionApproval'])
        .map(({ workItem }) => workItem.workItemId);
    };
    expect(await flags()).toEqual([items.queued]);
  });

  it('/memberships, /conversations, /leases: valid as documents', async () => {
    const memberships = await list('memberships');
    expect(memberships.map(({ roles }) => roles).sort()).toEqual([['coordinator'], ['mission_owner'], ['worker']]);
    expectValid(
      'membership',
      memberships.flatMap(({ documents }) => documents),
    );
    const conversations = await list('conversations');
    expectValid(
      'conversation',
      conversations.map(({ conversation }) => conversation),
    );
    expect(conversations.map(({ conversation }) => conversation.type)).toContain('work_item');
    const leases = await list('leases');
    expectValid(
      'lease',
      leases.map(({ lease }) => lease),
    );
    expect(new Set(leases.map(({ lease }) => lease.leaseType))).toEqual(
      new Set(['coordinator', 'ownership', 'execution']),
    );
    const active = await api.get(ada, `${group}/leases?state=active`);
    expect(active.json.items.length).toBeLessThan(leases.length);
    expect(active.json.items.every(({ lease }) => lease.state === 'active')).toBe(true);
  });

  it('MWP-MSN-017: /messages: valid as documents, with authority false', async () => {
    const { json } = await api.get(bob, group);
    const messages = await list(`conversations/${path(json.group.mainConversationId)}/messages`);
    expectValid(
      'message',
      messages.map(({ message }) => message),
    );
    expect(messages.map(({ message }) => [message.authority, message.content])).toEqual([
      [false, [{ type: 'text', text: TEXT }]],
    ]);
    const [first] = (await list('conversations')).filter(({ conversation }) => conversation.type === 'work_item');
    expect(await list(`conversations/${path(first?.conversation.conversationId ?? '')}/messages`)).toEqual([]);
  });

  it('MWP-IDN-003c: /artifacts, /evidence: as their signers signed them', async () => {
    const artifacts = await list('artifacts');
    expectValid(
      'artifact',
      artifacts.map(({ artifact }) => artifact),
    );
    expect(artifacts).toHaveLength(2);
    const { artifact, details } = artifacts[0] as Shown;
    const { signature: _signature, ...unsigned } = artifact;
    expect(details).toEqual({ signingHash: canonicalHash(unsigned) });
    const evidence = await list('evidence');
    expectValid(
      'evidence',
      evidence.map((item) => item.evidence),
    );
    expect(evidence).toHaveLength(2);
  });

  it('/proposals: the proposed contract with its texts', async () => {
    const [proposal] = await list('proposals');
    expectValid('work-contract', [proposal?.proposal.contract]);
    expect((await api.get(ada, `${group}/proposals?state=authorized`)).json.items).toEqual([]);
  });

  it('MWP-AUT: /budgets: limits, own usage, what the tree below used, and what is left', async () => {
    const accounts = (await list('budgets')).map(({ account }) => account);
    const root = accounts.find(({ owner }) => owner.type === 'mission');
    expect(root).toMatchObject({
      currency: 'EUR',
      limit: { financialMicrounits: 100_000_000, modelTokens: 100_000, toolCalls: 1_000 },
      usage: { modelTokens: 0 },
      treeUsage: { modelTokens: 12 },
      remaining: { computeSeconds: null },
    });
    const active = accounts.find(({ owner }) => owner.id === items.active);
    expect(active).toMatchObject({
      usage: { modelTokens: 5 },
      treeUsage: { modelTokens: 5 },
      remaining: { modelTokens: 995 },
    });
    expect(accounts).toHaveLength(6);
  });

  it('MWP-EVT-009b: /events: every Event from the first, valid, without a hole, in bounded pages', async () => {
    const head = (await api.get(olga, group)).json.headSequence;
    const events: number[] = [];
    for (let after = 0; ;) {
      const { json } = await api.get(olga, `${group}/events?after=${after}&limit=3`);
      expectValid('event', json.items);
      expect(json.items.length).toBeLessThanOrEqual(3);
      events.push(...json.items.map(({ sequence }) => sequence));
      after = json.throughSequence;
      expect(json.headSequence).toBe(head);
      expect(json.next).toBe(after < head ? String(after) : undefined);
      if (json.next === undefined) break;
    }
    expect(events).toEqual(Array.from({ length: head }, (_, position) => position + 1));
    const beyond = (await api.get(olga, `${group}/events?after=${head}`)).json;
    expect(beyond).toEqual({ items: [], throughSequence: head, headSequence: head });
  });

  it('/state: the state document hashes to stateHash and lists what the other reads show', async () => {
    const { json } = await api.get(ada, `${group}/state`);
    expect(json.stateHash).toBe(stateHash(json.document));
    expect(json.throughSequence).toBe((await api.get(ada, group)).json.headSequence);
    const kinds = json.document.aggregates.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'work_item')).toHaveLength(5);
    expect(json.document).toMatchObject({
      groupId: mission.groupId,
      organizationId: tenant.organization.organizationId,
    });
  });

  it('MWP-IDN-001a: /agents/{id}: the Card as the registrar signed it, for anybody of the Organization', async () => {
    const eve = await tenant.human('eve');
    const { json } = await api.get(eve, `/agents/${path(bob.principal.id)}`);
    expectValid('agent-card', [json.agentCard]);
    expect(json.agentCard).toMatchObject({ agentId: bob.principal.id, cardVersion: 1 });
    expect(refusalIn(await api.get(eve, `/agents/${path(eve.principal.id)}`))).toBe('404 INVALID_COMMAND');
  });

  it('paging: any page size walks the same list, and an id of another list leads nowhere wrong', async () => {
    for (const below of ['work-items', 'memberships', 'conversations', 'leases', 'budgets', 'artifacts', 'evidence']) {
      const whole = await list(below);
      expect(await api.all(ada, `${group}/${below}`, 1)).toEqual(whole);
      expect(await api.all(ada, `${group}/${below}`, 2)).toEqual(whole);
    }
    const odd = await api.get(ada, `${group}/work-items?after=${path('zzz not an id ~')}`);
    expect(odd.json).toEqual({ items: [] });
  });

  it('paging: a wrong limit or after is refused by its shape, the largest is not', async () => {
    const queries = [
      'limit=0',
      'limit=201',
      'limit=-1',
      'limit=1e2',
      'limit=',
      'limit=x',
      'limit=99999999999999999999',
    ];
    for (const below of [`${group}/work-items`, `${group}/events`, `${group}/policy-log`, '/me', '/missions']) {
      for (const query of queries) {
        expect(refusalIn(await api.get(ada, `${below}?${query}`))).toBe('400 SCHEMA_VALIDATION_FAILED');
      }
      expect((await api.get(ada, `${below}?limit=200`)).status).toBe(200);
    }
    for (const after of ['-1', 'x', '1.5', '9'.repeat(16), '']) {
      expect(refusalIn(await api.get(ada, `${group}/events?after=${after}`))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    for (const after of ['', '%00', path('é'), 'a'.repeat(1_101)]) {
      expect(refusalIn(await api.get(ada, `${group}/leases?after=${after}`))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    expect(refusalIn(await api.get(ada, `${group}/work-items?state=nice`))).toBe('400 SCHEMA_VALIDATION_FAILED');
  });
});

describe.each(STORES)('$name: reading an approved Mission', ({ open }) => {
  let opened: OpenedStore;
  afterAll(() => opened.close());

  it('MWP-MSN-008: /approvals, /policy-log and the Mission show the signed decision and earlier submissions', async () => {
    opened = await open();
    const tenant = await Tenant.create(opened.store);
    const api = new Api(tenant);
    const olga = await tenant.human('olga');
    const ada = await tenant.agent('ada');
    const bob = await tenant.agent('bob');
    const mission = await Mission.create(tenant, olga, ada);
    await mission.join(bob);
    const hash = await mission.finish(bob, await mission.active(bob));
    const first = await mission.submitForApproval([hash]);
    const feedback = 'More tests, please';
    const change = mission.approval(first, [hash], 'changes_requested', feedback);
    await mission.accept(olga, 'mission.request_changes', { missionRevision: first, feedback, approval: change });
    const second = await mission.submitForApproval([hash]);
    await mission.accept(olga, 'mission.approve', { approval: mission.approval(second, [hash]) });

    const group = `/groups/${path(mission.groupId)}`;
    const approvals = await api.all(ada, `${group}/approvals`);
    expect(approvals.map(({ approval }) => checkDocument('approval', approval).valid)).toEqual([true, true]);
    expect(approvals.map(({ approval }) => approval.decision).sort()).toEqual(['approved', 'changes_requested']);
    expect(approvals.map(({ approval }) => approval.comments)).toContain('More tests, please');
    const { json } = await api.get(olga, `/missions/${path(mission.missionId)}`);
    expect(checkDocument('mission', json.mission)).toMatchObject({ valid: true });
    expect(json.mission.state).toBe('approved');
    expect(json.details['submissions']).toHaveLength(2);
    const log = await api.all(olga, `${group}/policy-log`);
    expect(log.length).toBeGreaterThan(0);
    expect(log.map((entry) => entry['position'])).toEqual(log.map((_, position) => position + 1));
    expect(await api.all(olga, `${group}/policy-log`, 1)).toEqual(log);
  });
});
