// What late, provisional and former members see of a Group, on every read (MWP-MSN-010, -011, -012).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signContextPackage } from '../../src/worker/documents.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, path, refusalIn } from './api.ts';
import type { Shown } from './answers.ts';

const REQUIRED = '403 MEMBERSHIP_REQUIRED';

describe.each(STORES)('$name: members without full visibility', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let now: number;
  let olga: ActorKey;
  let ada: ActorKey;
  let bob: ActorKey;
  let carl: ActorKey;
  let mission: Mission;
  let group: string;
  let mainConversationId: string;

  beforeEach(async () => {
    now = Date.now();
    opened = await open({ clock: () => (now += 1) }); // no two Events in one millisecond
    tenant = await Tenant.create(opened.store, { clock: () => now });
    api = new Api(tenant, { clock: () => now });
    olga = await tenant.human('olga');
    [ada, bob, carl] = [await tenant.agent('ada'), await tenant.agent('bob'), await tenant.agent('carl')];
    mission = await Mission.create(tenant, olga, ada);
    await mission.join(bob);
    group = `/groups/${path(mission.groupId)}`;
    mainConversationId = (await api.get(olga, group)).json.group.mainConversationId;
  });
  afterEach(() => opened.close());

  const head = async () => (await api.get(olga, group)).json.headSequence;
  const workItems = async (key: ActorKey) =>
    (await api.all(key, `${group}/work-items`)).map(({ workItem }) => workItem.workItemId);
  const joinLate = async (visibilityAfterSequence: number) =>
    mission.accept(ada, 'membership.change', { principal: carl.principal, roles: ['worker'], visibilityAfterSequence });

  it('MWP-MSN-012: a late member replays from its start on, whatever it asks for', async () => {
    const start = (await head()) + 1;
    await joinLate(start - 1);
    await mission.say(bob, 'after', mainConversationId);
    const { json } = await api.get(carl, `${group}/events?after=0`);
    expect(json.items.map(({ sequence }) => sequence)).toEqual([start, start + 1]);
    expect((await api.get(carl, `${group}/events?after=0&limit=1`)).json).toMatchObject({
      throughSequence: start,
      next: String(start),
    });
    const early = (await api.get(olga, `${group}/events?after=${start - 2}&limit=2`)).json.items.map(eventId);
    expect(refusalIn(await api.get(carl, `${group}/events/${path(early[0] ?? '')}`))).toBe('404 INVALID_COMMAND');
    expect((await api.get(carl, `${group}/events/${path(early[1] ?? '')}`)).status).toBe(200);
  });

  it('MWP-MSN-010d: a late member with the whole history is no limited member', async () => {
    await joinLate(0);
    const { json } = await api.get(carl, `${group}/events`);
    expect(json.items.map(({ sequence }) => sequence)[0]).toBe(1);
    expect((await api.get(carl, `${group}/state`)).status).toBe(200);
  });

  it('MWP-MSN-012: a late member sees WorkItems it was offered, owns, or that are younger than its start', async () => {
    const hidden = await mission.active(bob);
    const toBeOffered = await mission.authorize();
    await joinLate(await head());
    const younger = await mission.authorize();
    expect(await workItems(carl)).toEqual([younger]);
    await mission.offer(toBeOffered, [carl]);
    const seen = [younger, toBeOffered].sort();
    expect(await workItems(carl)).toEqual(seen);
    await mission.accept(carl, 'work.accept_offer', { workItemId: toBeOffered });
    // What merely changes stays hidden: its document would tell more than the Event.
    await mission.accept(bob, 'ext.missionweaveprotocol.core.work_execution_lease_renew', {
      ...hidden,
      leaseSeconds: 600,
    });
    expect(await workItems(carl)).toEqual(seen);
    const one = (workItemId: string) => api.get(carl, `${group}/work-items/${path(workItemId)}`);
    expect(refusalIn(await one(hidden.workItemId))).toBe('404 INVALID_COMMAND');
    expect((await one(toBeOffered)).status).toBe(200);
  });

  it('MWP-MSN-012: what hangs on a hidden WorkItem is hidden with it', async () => {
    const hidden = await mission.active(bob);
    const { contentHash } = await mission.publish(bob, hidden);
    await mission.say(bob, 'before', mainConversationId);
    await joinLate(await head());
    const own = await mission.active(carl, { inputArtifacts: [] });
    await mission.publish(carl, own);
    await mission.say(bob, 'after', mainConversationId);
    const isHidden = (item: Shown) => JSON.stringify(item).includes(hidden.workItemId);
    for (const below of ['leases', 'budgets', 'artifacts', 'conversations', 'evidence', 'approvals']) {
      const all = await api.all(olga, `${group}/${below}`);
      const shown = await api.all(carl, `${group}/${below}`);
      expect(shown.filter(isHidden)).toEqual([]);
      expect(all).toEqual(expect.arrayContaining(shown));
      if (['leases', 'budgets', 'artifacts', 'conversations'].includes(below)) {
        expect(all.filter(isHidden).length).toBeGreaterThan(0);
        expect(shown.length).toBeGreaterThan(0);
      }
    }
    const messages = await api.all(carl, `${group}/conversations/${path(mainConversationId)}/messages`);
    expect(messages.map(({ message }) => message.content)).toEqual([[{ type: 'text', text: 'after' }]]);
    const hiddenConversation = (await api.all(olga, `${group}/conversations`)).find(isHidden)?.conversation;
    const route = `${group}/conversations/${path(hiddenConversation?.conversationId ?? '')}/messages`;
    expect(refusalIn(await api.get(carl, route))).toBe('404 INVALID_COMMAND');
    for (const below of ['state', 'policy-log'])
      expect(refusalIn(await api.get(carl, `${group}/${below}`))).toBe(REQUIRED);
    // An input of one's own work is a relevant reference, and its manifest is shown.
    await mission.queued(carl, { inputArtifacts: [contentHash] });
    expect((await api.all(carl, `${group}/artifacts`)).filter(isHidden)).toHaveLength(1);
  });

  it('MWP-MSN-011: a provisional member sees its admission, its offers and nothing else, until its end', async () => {
    const dora = await tenant.agent('dora');
    await mission.active(bob);
    const first = (await api.get(ada, `${group}/events?limit=1`)).json.items[0];
    const contextPackage = signContextPackage(ada, {
      missionId: mission.missionId,
      groupId: mission.groupId,
      sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: [eventId(first as Shown)] },
      summary: 'What came before',
      generatedAt: tenant.now(),
    });
    await mission.accept(ada, 'membership.change', {
      principal: dora.principal,
      roles: ['worker'],
      provisional: true,
      provisionalExpiresAt: mission.later(600_000),
      contextPackage,
    });
    const offered = await mission.authorize();
    await mission.offer(offered, [bob, dora]);
    await mission.say(bob, 'not for dora', mainConversationId);

    expect(await workItems(dora)).toEqual([offered]);
    expect((await api.get(dora, `${group}/work-items/${path(offered)}`)).status).toBe(200);
    expect((await api.all(dora, `${group}/memberships`)).map(({ member }) => member)).toEqual([dora.principal]);
    const { json } = await api.get(dora, `${group}/events`);
    expect(json.items.map((event) => event['kind'])).toEqual(['membership.changed', 'work.offer.created']);
    expect(JSON.stringify(json.items)).toContain('What came before');
    expect(json.throughSequence).toBe(await head());
    expect((await api.get(dora, '/missions')).json).toEqual({ items: [] });
    const closed = ['', '/conversations', '/leases', '/budgets', '/artifacts', '/evidence', '/approvals', '/proposals'];
    closed.push('/policy-log', '/state', `/conversations/${path(mainConversationId)}/messages`);
    for (const below of closed) expect(refusalIn(await api.get(dora, group + below))).toBe(REQUIRED);
    expect(refusalIn(await api.get(dora, `/missions/${path(mission.missionId)}`))).toBe(REQUIRED);
    const me = (await api.get(dora, '/me')).json.memberships[0];
    expect(me).toMatchObject({ state: 'provisional', roles: ['worker'] });

    now += 600_000;
    for (const below of [...closed, '/work-items', '/memberships', '/events']) {
      expect(refusalIn(await api.get(dora, group + below))).toBe(REQUIRED);
    }
  });

  it('MWP-MSN-010b: an ended Membership reads nothing but that it has ended', async () => {
    await mission.accept(ada, 'membership.end', { principal: bob.principal, reason: 'done' });
    for (const below of ['', '/work-items', '/memberships', '/events', '/state', '/budgets']) {
      expect(refusalIn(await api.get(bob, group + below))).toBe(REQUIRED);
    }
    expect(refusalIn(await api.get(bob, `/missions/${path(mission.missionId)}`))).toBe(REQUIRED);
    expect((await api.get(bob, '/missions')).json).toEqual({ items: [] });
    expect((await api.get(bob, '/me')).json.memberships[0]).toMatchObject({ state: 'ended', groupId: mission.groupId });
  });

  it("a receipt's Events follow the Membership as it is now", async () => {
    const actionId = 'urn:test:action:of-bob';
    const before = (await mission.accept(bob, 'message.post', messageIn(mainConversationId), { actionId })).events;
    const receipt = async () => (await api.get(bob, `/receipts/${path(actionId)}`)).json;
    expect((await receipt()).events).toEqual(before);
    await mission.accept(ada, 'membership.end', { principal: bob.principal, reason: 'done' });
    expect(await receipt()).toMatchObject({ receipt: { actionId }, events: [] });
  });
});

function eventId(event: object): string {
  return (event as { eventId: string }).eventId;
}

function messageIn(conversationId: string) {
  return { messageId: 'urn:test:message:1', conversationId, content: [{ type: 'text', text: 'hello' }] };
}
