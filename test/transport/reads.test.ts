// Each read of a played Mission: the shapes of docs/http-api.md, and the protocol's documents in them valid as such.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { stateHash } from '../../src/wire/state-document.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import type { Shown } from './answers.ts';
import { path, refusalIn, type Api } from './api.ts';
import { expectValid, playMission, TEXT, TEXTS, type PlayedMission } from './played-mission.ts';

describe.each(STORES)('$name: reading a Mission', ({ open }) => {
  // One played Mission for all: every test here only reads.
  let opened: OpenedStore;
  let played: PlayedMission;
  let api: Api;
  let group: string;

  beforeAll(async () => {
    opened = await open();
    played = await playMission(opened.store);
    ({ api, group } = played);
  });
  afterAll(() => opened.close());

  it('/me: the principal, its Session Epoch and its Memberships', async () => {
    const { json } = await api.get(played.ada, '/me');
    expect(json).toMatchObject({
      organizationId: played.tenant.organization.organizationId,
      principal: played.ada.principal,
      sessionEpoch: 1,
      memberships: [
        {
          groupId: played.mission.groupId,
          missionId: played.mission.missionId,
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
    const one = (await api.get(played.bob, `/missions/${path(played.mission.missionId)}`)).json;
    expectValid('mission', [one.mission]);
    expect(one.mission.objective).toBe('Ship the release');
    expect(one.details).toEqual({ title: 'A release', permissions: [], submissions: [], workItemCount: 5 });
    expect(await api.all(played.bob, '/missions')).toEqual([one]);
  });

  it('/groups/{id}: the Group with the head of its sequence and its revision', async () => {
    const { json } = await api.get(played.bob, group);
    expectValid('group', [json.group]);
    const { headSequence } = json;
    const head = await opened.store.read(played.tenant.organization.organizationId, (reader) =>
      reader.stream(played.mission.groupId),
    );
    expect([headSequence, json['groupRevision']]).toEqual([head?.position, head?.revision]);
  });

  it('/work-items: in every state valid as documents, found by state and by id', async () => {
    const all = await played.list('work-items');
    expectValid(
      'work-item',
      all.map(({ workItem }) => workItem),
    );
    const stateOf = new Map(all.map(({ workItem }) => [workItem.workItemId, workItem.state]));
    expect(Object.entries(played.items).map(([state, workItemId]) => [state, stateOf.get(workItemId)])).toEqual(
      Object.keys(played.items).map((state) => [state, state]),
    );
    expect(all[0]?.workItem.contract.goal).toBe('Write the code');
    const some = await api.get(played.ada, `${group}/work-items?state=open,offered`);
    expect(some.json.items.map(({ workItem }) => workItem.state).sort()).toEqual(['offered', 'open']);
    const one = await api.get(played.bob, `${group}/work-items/${path(played.items.active)}`);
    expect(one.json).toEqual(all.find(({ workItem }) => workItem.workItemId === played.items.active));
    expect(one.json.details).toMatchObject({ ownershipEpoch: 1, artifactIds: [expect.any(String)] });
    expect(typeof one.json.details['executionLeaseId']).toBe('string');
  });

  it('T-2: of all items only the queued one that waits for an Execution Approval says so', async () => {
    const flags = async () => {
      const all = await played.list('work-items');
      return all
        .filter(({ details }) => details['awaitingExecutionApproval'])
        .map(({ workItem }) => workItem.workItemId);
    };
    expect(await flags()).toEqual([played.items.queued]);
  });

  it('/memberships, /conversations, /leases: valid as documents', async () => {
    const memberships = await played.list('memberships');
    expect(memberships.map(({ roles }) => roles).sort()).toEqual([['coordinator'], ['mission_owner'], ['worker']]);
    expectValid(
      'membership',
      memberships.flatMap(({ documents }) => documents),
    );
    const conversations = await played.list('conversations');
    expectValid(
      'conversation',
      conversations.map(({ conversation }) => conversation),
    );
    expect(conversations.map(({ conversation }) => conversation.type)).toContain('work_item');
    const leases = await played.list('leases');
    expectValid(
      'lease',
      leases.map(({ lease }) => lease),
    );
    expect(new Set(leases.map(({ lease }) => lease.leaseType))).toEqual(
      new Set(['coordinator', 'ownership', 'execution']),
    );
    const active = await api.get(played.ada, `${group}/leases?state=active`);
    expect(active.json.items.length).toBeLessThan(leases.length);
    expect(active.json.items.every(({ lease }) => lease.state === 'active')).toBe(true);
  });

  it('MWP-MSN-017, MWP-MSN-023: /messages: valid as documents, authority false, each amendment beside its original', async () => {
    const { json } = await api.get(played.bob, group);
    const messages = await played.list(`conversations/${path(json.group.mainConversationId)}/messages`);
    expectValid(
      'message',
      messages.map(({ message }) => message),
    );
    const original = messages.find(({ message }) => message.kind === 'message')?.message.messageId;
    const textPart = (text: string) => ({ type: 'text', text });
    const told = messages.map(({ message: { kind, authority, content, targetMessageId, reason } }) =>
      JSON.stringify([kind, authority, content[0], targetMessageId, reason]),
    );
    expect(told.sort()).toEqual([
      JSON.stringify(['correction', false, textPart(TEXTS.corrected), original, TEXTS.why]),
      JSON.stringify(['message', false, textPart(TEXT), undefined, undefined]),
      JSON.stringify(['retraction', false, textPart(TEXTS.retracted), original, TEXTS.retracted]),
    ]);
    const [first] = (await played.list('conversations')).filter(
      ({ conversation }) => conversation.type === 'work_item',
    );
    expect(await played.list(`conversations/${path(first?.conversation.conversationId ?? '')}/messages`)).toEqual([]);
  });

  it('MWP-IDN-003c: /artifacts, /evidence: as their signers signed them', async () => {
    const artifacts = await played.list('artifacts');
    expectValid(
      'artifact',
      artifacts.map(({ artifact }) => artifact),
    );
    expect(artifacts).toHaveLength(2);
    const { artifact, details } = artifacts[0] as Shown;
    const { signature: _signature, ...unsigned } = artifact;
    expect(details).toEqual({ signingHash: canonicalHash(unsigned) });
    const evidence = await played.list('evidence');
    expectValid(
      'evidence',
      evidence.map((item) => item.evidence),
    );
    expect(evidence).toHaveLength(2);
  });

  it('/proposals: the proposed contract with its texts', async () => {
    const [proposal] = await played.list('proposals');
    expectValid('work-contract', [proposal?.proposal.contract]);
    expect((await api.get(played.ada, `${group}/proposals?state=authorized`)).json.items).toEqual([]);
  });

  it('MWP-AUT: /budgets: limits, own usage, what the tree below used, and what is left', async () => {
    const accounts = (await played.list('budgets')).map(({ account }) => account);
    const root = accounts.find(({ owner }) => owner.type === 'mission');
    expect(root).toMatchObject({
      currency: 'EUR',
      limit: { financialMicrounits: 100_000_000, modelTokens: 100_000, toolCalls: 1_000 },
      usage: { modelTokens: 0 },
      treeUsage: { modelTokens: 12 },
      remaining: { computeSeconds: null },
    });
    const active = accounts.find(({ owner }) => owner.id === played.items.active);
    expect(active).toMatchObject({
      usage: { modelTokens: 5 },
      treeUsage: { modelTokens: 5 },
      remaining: { modelTokens: 995 },
    });
    expect(accounts).toHaveLength(6);
  });

  it('/state: the state document hashes to stateHash and lists what the other reads show', async () => {
    const { json } = await api.get(played.ada, `${group}/state`);
    expect(json.stateHash).toBe(stateHash(json.document));
    expect(json.throughSequence).toBe((await api.get(played.ada, group)).json.headSequence);
    const kinds = json.document.aggregates.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'work_item')).toHaveLength(5);
    expect(json.document).toMatchObject({
      groupId: played.mission.groupId,
      organizationId: played.tenant.organization.organizationId,
    });
  });

  it('MWP-IDN-001a: /agents/{id}: the Card as the registrar signed it, for anybody of the Organization', async () => {
    const eve = await played.tenant.human('eve');
    const { json } = await api.get(eve, `/agents/${path(played.bob.principal.id)}`);
    expectValid('agent-card', [json.agentCard]);
    expect(json.agentCard).toMatchObject({ agentId: played.bob.principal.id, cardVersion: 1 });
    expect(refusalIn(await api.get(eve, `/agents/${path(eve.principal.id)}`))).toBe('404 INVALID_COMMAND');
  });
});
