// Real parallel Commands on real databases: whoever wins, exactly one does, and order has no gap.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('races on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let owner: ActorKey;
  let coordinator: ActorKey;
  let mission: Mission;

  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    owner = await tenant.human('olga');
    coordinator = await tenant.agent('coordinator');
    mission = await Mission.create(tenant, owner, coordinator);
  });

  afterEach(async () => {
    await tenant.expectReplayEquivalence();
    expect(tenant.alarms).toEqual([]);
    await opened.close();
  });

  async function workers(count: number, missions = [mission]): Promise<ActorKey[]> {
    const agents: ActorKey[] = [];
    for (let number = 0; number < count; number += 1) {
      const agent = await tenant.agent(`worker-${number}`);
      for (const each of missions) await each.join(agent);
      agents.push(agent);
    }
    return agents;
  }

  async function item(workItemId: string) {
    const [found] = await tenant.store.read(tenant.organization.organizationId, async (reader) => {
      const { aggregates } = await reader.load([{ read: 'one', kind: 'work_item', id: workItemId }]);
      return aggregates;
    });
    return found?.document as {
      workItem: { state: string; owner?: { agentId: string } };
      details: { ownershipEpoch: number };
    };
  }

  it('MWP-FND-017a, MWP-WRK-004c: twenty racing acceptances give one owner and one epoch step', async () => {
    const candidates = await workers(20);
    const workItemId = await mission.authorize();
    await mission.offer(workItemId, candidates);
    const outcomes = await Promise.all(
      candidates.map((worker) => mission.outcome(worker, 'work.accept_offer', { workItemId })),
    );
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'WORK_ALREADY_OWNED')).toHaveLength(19);
    const winner = candidates[outcomes.indexOf('accepted')];
    const { workItem, details } = await item(workItemId);
    expect(workItem).toMatchObject({ state: 'queued', owner: { agentId: winner?.principal.id } });
    expect(details.ownershipEpoch).toBe(1);
    const loser = candidates[outcomes.indexOf('WORK_ALREADY_OWNED')];
    if (!loser) throw new Error('there are losers');
    expect(await mission.outcome(loser, 'work.start', { workItemId, ownershipEpoch: 1 })).toBe('AUTH_FORBIDDEN');
  });

  it('two starts in two Groups at an active limit of one never both win', async () => {
    const other = await Mission.create(tenant, owner, coordinator);
    const [worker] = await workers(1, [mission, other]);
    if (!worker) throw new Error('there is a worker');
    const first = await mission.queued(worker);
    const second = await other.queued(worker);
    const { organizationId } = tenant.organization;
    const policy = await tenant.store.organizations.policy(organizationId);
    policy.limits.activeWorkItems = 1;
    policy.version += 1;
    await tenant.store.organizations.changeRegistry(organizationId, { policy });
    const outcomes = await Promise.all([
      mission.outcome(worker, 'work.start', { workItemId: first, ownershipEpoch: 1 }),
      other.outcome(worker, 'work.start', { workItemId: second, ownershipEpoch: 1 }),
    ]);
    expect(outcomes.sort()).toEqual(['RATE_LIMITED', 'accepted']);
  });

  it('MWP-WRK-014c: a start that races a new session leaves no active item behind', async () => {
    const [worker] = await workers(1);
    if (!worker) throw new Error('there is a worker');
    for (let round = 1; round <= 5; round += 1) {
      mission.inSession(worker, round);
      const workItemId = await mission.queued(worker);
      await Promise.all([
        mission.outcome(worker, 'work.start', { workItemId, ownershipEpoch: 1 }),
        tenant.openSession(worker),
      ]);
      // Whichever came first: the old runtime holds nothing now.
      expect((await item(workItemId)).workItem.state).toBe('queued');
      mission.inSession(worker, round + 1);
      await mission.accept(coordinator, 'work.cancel', { workItemId, reason: 'the round is over' });
    }
  });

  it('MWP-EVT-005c: parallel Commands of one Group get consecutive sequences and group revisions', async () => {
    const conversations = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    const conversationId = conversations[0]?.id ?? '';
    const posted = await Promise.all(
      Array.from({ length: 30 }, (_, number) =>
        mission.accept(owner, 'message.post', { messageId: id(), conversationId, content: `message ${number}` }),
      ),
    );
    const sequences = posted.map(({ events }) => events[0]?.sequence ?? 0).sort((a, b) => a - b);
    expect(sequences).toEqual(Array.from({ length: 30 }, (_, number) => number + 2));
    const revisions = posted.map(({ receipt }) => receipt.groups[0]?.groupRevision ?? 0).sort((a, b) => a - b);
    expect(revisions).toEqual(Array.from({ length: 30 }, (_, number) => number + 2));
  });

  it('a limit on messages a minute holds to the message when thirty come at once', async () => {
    const { organizationId } = tenant.organization;
    const policy = await tenant.store.organizations.policy(organizationId);
    policy.limits.messagesPerMinute = 10;
    policy.version += 1;
    await tenant.store.organizations.changeRegistry(organizationId, { policy });
    const [conversation] = await tenant.store.read(organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    const post = () => ({ messageId: id(), conversationId: conversation?.id, content: 'one of many' });
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, () => mission.outcome(owner, 'message.post', post())),
    );
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'RATE_LIMITED')).toHaveLength(20);
  });

  it('MWP-EVT-007b: two Commands with one expectedRevision at once: one wins, the other is told both revisions', async () => {
    const worker = (await workers(1))[0];
    if (!worker) throw new Error('there is a worker');
    const before = await item(await mission.authorize());
    const { workItemId, revision } = before.workItem as unknown as { workItemId: string; revision: number };
    const cancel = () =>
      tenant.submit(
        coordinator,
        mission.draft('work.cancel', { workItemId, reason: 'not needed' }, { expectedRevision: revision }),
        mission.epochsOf(coordinator),
      );
    const answers = await Promise.all([cancel(), cancel()]);
    const refused = answers.find((answer) => !answer.accepted);
    expect(answers.filter((answer) => answer.accepted)).toHaveLength(1);
    expect(refused && !refused.accepted && refused.refusal).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: revision,
      currentRevision: revision + 1,
    });
  });
});
