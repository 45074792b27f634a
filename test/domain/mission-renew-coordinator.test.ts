import { describe, expect, it } from 'vitest';
import { activeMission, byCoordinator, byOwner, byWorker, COORDINATOR, MISSION, WORKER } from '../support/fixtures.ts';
import type { World } from '../support/world.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';

const LEASE_SECONDS = 86_400;

const renew = (leaseSeconds?: number | null, envelope: object = {}) =>
  byCoordinator('mission.renew_coordinator', leaseSeconds === undefined ? {} : { leaseSeconds }, envelope);

function leaseOf(world: World) {
  return world.view.mustGet('lease', world.view.mustGet('mission', MISSION).mission.coordinator.leaseId);
}

describe('MWP-MSN-004a: mission.renew_coordinator', () => {
  it('moves the end of the same lease and binds it to the session of the Command', () => {
    const given = activeMission();
    const before = leaseOf(given);
    given.view.set('session', COORDINATOR.id, '', { agentId: COORDINATOR.id, sessionEpoch: 2, openedAt: given.now });
    given.advance(60);
    const expiresAt = addSeconds(given.now, LEASE_SECONDS);
    const [event, ...others] = given.accept(renew(LEASE_SECONDS, { sessionEpoch: 2 }));
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'mission.coordinator.renewed',
      aggregateRevision: 1,
      payload: { missionId: MISSION, coordinatorEpoch: 1, leaseExpiresAt: expiresAt },
    });
    expect(leaseOf(given)).toEqual({
      ...before,
      sessionEpoch: 2,
      expiresAt,
      renewalCount: 1,
      lastRenewedAt: given.now,
    });
    expect(given.view.get('mission', MISSION)?.mission.revision).toBe(1);
  });

  it('refuses an end that is not later, and takes one a millisecond later', () => {
    const given = activeMission();
    expect(given.outcome(renew(LEASE_SECONDS))).toBe('INVALID_COMMAND');
    expect(given.outcome(renew())).toBe('INVALID_COMMAND');
    given.advance(0.001);
    expect(given.outcome(renew(LEASE_SECONDS))).toBe('accepted');
  });

  it('shortens what is asked beyond the policy, and takes 300 seconds when nothing is asked', () => {
    const given = activeMission();
    given.advance(LEASE_SECONDS - 10);
    given.policy.leases.coordinatorMaximum = 3_600;
    given.accept(renew(7_200));
    expect(leaseOf(given).expiresAt).toBe(addSeconds(given.now, 3_600));
    given.advance(3_500);
    given.accept(renew(null));
    expect(leaseOf(given).expiresAt).toBe(addSeconds(given.now, 300));
  });

  it('MWP-MSN-004b: refuses at exactly the end of the lease, not a millisecond before', () => {
    const given = activeMission();
    given.advance(LEASE_SECONDS - 0.001);
    expect(given.outcome(renew())).toBe('accepted');
    given.advance(0.001);
    expect(given.outcome(renew())).toBe('AUTH_STALE_COORDINATOR');
  });

  it('MWP-MSN-004a: refuses an old Session Epoch, MWP-MSN-005b: and another Coordinator Epoch', () => {
    const given = activeMission();
    given.advance(1);
    expect(given.outcome(renew(LEASE_SECONDS, { sessionEpoch: 2 }))).toBe('AUTH_STALE_SESSION');
    expect(given.outcome(renew(LEASE_SECONDS, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
  });

  it('is for the Coordinator alone', () => {
    const given = activeMission();
    given.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
    given.advance(1);
    const byAnother = byWorker('mission.renew_coordinator', { leaseSeconds: LEASE_SECONDS }, { coordinatorEpoch: 1 });
    expect(given.outcome(byAnother)).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(byOwner('mission.renew_coordinator', {}))).toBe('AUTH_FORBIDDEN');
  });

  it('a Coordinator lease may outlast the deadline of the Mission', () => {
    const given = activeMission();
    const mission = given.view.mustGet('mission', MISSION);
    given.view.set('mission', MISSION, mission.mission.groupId, {
      ...mission,
      mission: { ...mission.mission, deadline: given.now },
    });
    given.advance(60);
    expect(given.outcome(renew(LEASE_SECONDS))).toBe('accepted');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Mission', () => {
    const given = activeMission();
    given.advance(1);
    expect(given.decide(renew(LEASE_SECONDS, { expectedRevision: 0 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: 0,
      currentRevision: 1,
    });
    expect(given.outcome(renew(LEASE_SECONDS, { expectedRevision: 1 }))).toBe('accepted');
  });
});
