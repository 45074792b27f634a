import { describe, expect, it } from 'vitest';
import {
  activeMission,
  byCoordinator,
  byWorker,
  GROUP,
  missionCreate,
  OWNER,
  RIVAL,
  seedAgent,
  WORKER,
} from '../support/fixtures.ts';
import { ITEM, leaseIdOf, seedItem } from '../support/seeded-work.ts';
import { World, type CommandDraft } from '../support/world.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';

const KIND = 'ext.missionweaveprotocol.identity.session_open';
const REVOKED = 'ext.missionweaveprotocol.core.work_execution_lease_revoked';
const IDENTITY: Principal = { type: 'service', id: 'urn:test:service:identity' };
const RESUME_SECONDS = 900;

function allowIdentity(world: World): World {
  world.policy.services = [{ serviceId: IDENTITY.id, kinds: [KIND], relay: false }];
  return world;
}

const world = () => allowIdentity(activeMission());

function open(agent: Principal = WORKER, envelope: object = {}): CommandDraft {
  return { kind: KIND, actor: IDENTITY, payload: { agentId: agent.id }, ...envelope };
}

describe('session_open', () => {
  it('MWP-IDN-008a: gives the first session epoch 1 and each later one the next', () => {
    const given = allowIdentity(new World());
    seedAgent(given, WORKER);
    const session = given.view.mustGet('session', WORKER.id);
    given.view.set('session', WORKER.id, '', { ...session, sessionEpoch: 4 });
    const events = given.accept(open());
    expect(events).toMatchObject([
      {
        kind: 'ext.missionweaveprotocol.identity.session_opened',
        actor: IDENTITY,
        payload: { agentId: WORKER.id, sessionEpoch: 5 },
      },
    ]);
    expect(events[0]).not.toHaveProperty('groupId');
    expect(given.view.get('session', WORKER.id)).toEqual({
      agentId: WORKER.id,
      sessionEpoch: 5,
      openedAt: given.now,
    });
  });

  it('MWP-IDN-008b, MWP-FND-016: the former session is stale from then on', () => {
    const given = world();
    seedItem(given, { state: 'queued', leaseSeconds: 600 });
    const item = given.view.mustGet('lease', leaseIdOf(ITEM, 'ownership'));
    given.view.set('lease', item.leaseId, GROUP, { ...item, startBy: addSeconds(given.now, 600) });
    given.accept({ ...membership(WORKER) });
    const start = byWorker('work.start', { workItemId: ITEM, ownershipEpoch: 1 });
    expect(given.outcome(start)).toBe('accepted');
    given.accept(open());
    expect(given.outcome(start)).toBe('AUTH_STALE_SESSION');
    expect(given.outcome({ ...start, sessionEpoch: 2 })).toBe('accepted');
  });

  it('MWP-WRK-014c, T-5: every active item of the Agent, in whatever Group, returns to queued with its owner', () => {
    const given = world();
    const second = { missionId: 'urn:test:mission:2', groupId: 'urn:test:group:2' };
    given.accept(missionCreate({ payload: second, envelope: { groupId: second.groupId } }));
    seedItem(given);
    seedItem(given, { workItemId: 'urn:test:work:2', ...second });
    seedItem(given, { workItemId: 'urn:test:work:3', owner: RIVAL });
    const decision = given.decide(open()) as Accepted;
    const events = given.accept(open());
    expect(events.map(({ kind, groupId }) => [kind, groupId])).toEqual([
      [REVOKED, GROUP],
      [REVOKED, second.groupId],
      ['ext.missionweaveprotocol.identity.session_opened', undefined],
    ]);
    expect(decision.primary).toBe(2);
    expect(events[0]).toMatchObject({
      workItemId: ITEM,
      aggregateRevision: 8,
      payload: {
        reason: 'session_replaced',
        status: 'queued',
        sessionEpoch: 2,
        executionLeaseId: leaseIdOf(ITEM, 'execution'),
        closedLeases: [{ leaseId: leaseIdOf(ITEM, 'execution'), state: 'revoked', closedAt: given.now }],
      },
    });
    for (const workItemId of [ITEM, 'urn:test:work:2']) {
      const { workItem, details } = given.view.mustGet('work_item', workItemId);
      expect(workItem).toMatchObject({ state: 'queued', revision: 8, owner: { agentId: WORKER.id } });
      expect(details.executionLeaseId).toBeUndefined();
      expect(details.ownershipEpoch).toBe(1);
    }
    expect(given.view.get('work_item', 'urn:test:work:3')?.workItem.state).toBe('active');
  });

  it('keeps ownership until the resume window ends, start-by included, and exactly then no longer', () => {
    const given = world();
    seedItem(given);
    given.accept(membership(WORKER));
    given.accept(open());
    const end = addSeconds(given.now, RESUME_SECONDS);
    expect(given.view.get('lease', leaseIdOf(ITEM, 'ownership'))).toMatchObject({
      state: 'active',
      expiresAt: end,
      startBy: end,
      renewalCount: 0,
    });
    const start = byWorker('work.start', { workItemId: ITEM, ownershipEpoch: 1 }, { sessionEpoch: 2 });
    given.now = addSeconds(end, -0.001);
    expect(given.outcome(start)).toBe('accepted');
    given.now = end;
    expect(given.outcome(start)).toBe('WORK_LEASE_EXPIRED');
  });

  it('keeps it no longer than the deadline of the contract', () => {
    const given = world();
    seedItem(given);
    const item = given.view.mustGet('work_item', ITEM);
    const deadline = addSeconds(given.now, 120);
    const contract = { ...item.workItem.contract, deadline };
    given.view.set('work_item', ITEM, GROUP, { ...item, workItem: { ...item.workItem, contract } });
    given.accept(open());
    expect(given.view.get('lease', leaseIdOf(ITEM, 'ownership'))?.expiresAt).toBe(deadline);
  });

  it('MWP-WRK-014b: closes a lease at exactly its end as expired, a millisecond before it as revoked', () => {
    for (const [seconds, state] of [
      [299.999, 'revoked'],
      [300, 'expired'],
      [400, 'expired'],
    ] as const) {
      const given = world();
      seedItem(given);
      const end = addSeconds(given.now, 300);
      given.advance(seconds);
      given.accept(open());
      expect(given.view.get('lease', leaseIdOf(ITEM, 'execution'))).toMatchObject({
        state,
        closedAt: state === 'expired' ? end : given.now,
      });
      expect(given.view.get('work_item', ITEM)?.workItem.state).toBe('queued');
    }
  });

  it('touches neither queued nor blocked items, nor Memberships, nor the Coordinator lease', () => {
    const given = world();
    seedItem(given, { state: 'queued' });
    seedItem(given, { workItemId: 'urn:test:work:2', state: 'blocked' });
    const before = given.view.all().filter(({ kind }) => kind !== 'session');
    expect(given.accept(open())).toHaveLength(1);
    expect(given.view.all().filter(({ kind }) => kind !== 'session')).toEqual(before);
    const coordinator = given.view.mustGet('mission', 'urn:test:mission:1').mission.coordinator;
    given.accept(open({ type: 'agent', id: coordinator.agentId }));
    const renew = byCoordinator('mission.renew_coordinator', { leaseSeconds: 86_400 }, { sessionEpoch: 2 });
    given.advance(1);
    expect(given.outcome(renew)).toBe('accepted');
  });

  it('refuses an Agent without a Card, or with a revoked one; a Card past its end still comes back', () => {
    const given = world();
    expect(given.outcome(open({ type: 'agent', id: 'urn:test:agent:nobody' }))).toBe('INVALID_COMMAND');
    const card = given.view.mustGet('agent_card', WORKER.id);
    given.view.set('agent_card', WORKER.id, '', { ...card, status: 'revoked' });
    expect(given.outcome(open())).toBe('AUTH_FORBIDDEN');
    given.view.set('agent_card', WORKER.id, '', { ...card, validUntil: given.now });
    expect(given.outcome(open())).toBe('accepted');
  });

  it('is for services that the policy allows it to', () => {
    expect(activeMission().outcome(open())).toBe('AUTH_FORBIDDEN');
    expect(world().outcome(open(WORKER, { actor: OWNER }))).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-EVT-007a: compares expectedRevision with the current Session Epoch', () => {
    const given = world();
    expect(given.outcome(open(WORKER, { expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(open(WORKER, { expectedRevision: 1 }))).toBe('accepted');
  });
});

function membership(agent: Principal): CommandDraft {
  return byCoordinator('membership.change', { principal: agent, roles: ['worker'] });
}
