import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { RIVAL, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  blockedItem,
  byAgent,
  cited,
  ITEM,
  itemOf,
  leasesOf,
  missionRevision,
  only,
  queuedItem,
  submittedItem,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const KIND = 'ext.missionweaveprotocol.core.work_execution_lease_renew';

function renew(world: World, payload: object = {}, envelope: object = {}): CommandDraft {
  return byAgent(WORKER, KIND, { ...cited(world), ...payload }, envelope);
}

/** Without a Lease ID: of ownership. */
function renewOwnership(payload: object = {}): CommandDraft {
  return byAgent(WORKER, KIND, { workItemId: ITEM, ownershipEpoch: 1, ...payload });
}

describe('MWP-WRK-013: work_execution_lease_renew', () => {
  it('MWP-WRK-013b: keeps the lease id, lengthens its history and moves ownership along', () => {
    const world = activeItem();
    const before = leasesOf(world, 'execution')[0];
    world.advance(100);
    const event = only(world.accept(renew(world)));
    const end = addSeconds(world.now, 300);
    expect(event).toMatchObject({ kind: 'work.progressed', aggregateRevision: 5 });
    expect(event.payload).toMatchObject({ ownershipEpoch: 1, executionLeaseExpiresAt: end });
    expect(leasesOf(world, 'execution')).toEqual([
      { ...before, expiresAt: end, renewalCount: 1, lastRenewedAt: world.now },
    ]);
    expect(leasesOf(world, 'ownership')).toMatchObject([{ expiresAt: end, renewalCount: 0 }]);
    expect(itemOf(world).workItem.state).toBe('active');
    expect(missionRevision(world)).toBe(2);
  });

  it('ends strictly later than before, or is refused', () => {
    const world = activeItem();
    expect(world.outcome(renew(world, { leaseSeconds: 300 }))).toBe('INVALID_COMMAND');
    expect(world.outcome(renew(world, { leaseSeconds: 301 }))).toBe('accepted');
    world.policy.leases.executionMaximum = 300;
    expect(world.outcome(renew(world, { leaseSeconds: 3_600 }))).toBe('INVALID_COMMAND');
    world.advance(0.001);
    expect(world.outcome(renew(world, { leaseSeconds: 3_600 }))).toBe('accepted');
  });

  it('never ends after the deadline', () => {
    const world = activeItem({ contract: { deadline: '2026-11-29T12:06:00Z' } });
    world.accept(renew(world, { leaseSeconds: 3_600 }));
    expect(leasesOf(world, 'execution')[0]?.expiresAt).toBe('2026-11-29T12:06:00Z');
    expect(world.outcome(renew(world, { leaseSeconds: 3_600 }))).toBe('INVALID_COMMAND');
  });

  it('E-WORK_LEASE_EXPIRED: comes before the end and not at it', () => {
    const world = activeItem();
    world.advance(299.999);
    expect(world.outcome(renew(world))).toBe('accepted');
    world.advance(0.001);
    expect(world.outcome(renew(world))).toBe('WORK_LEASE_EXPIRED');
  });

  it('is for the executing owner under the session of the lease', () => {
    const world = activeItem();
    expect(world.outcome(renew(world, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
    expect(world.outcome(byAgent(RIVAL, KIND, { ...cited(world) }))).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(renew(world, {}, { expectedRevision: 3 }))).toBe('REVISION_CONFLICT');
    const session = world.view.mustGet('session', WORKER.id);
    world.view.set('session', WORKER.id, '', { ...session, sessionEpoch: 2 });
    expect(world.outcome(renew(world, {}, { sessionEpoch: 2 }))).toBe('AUTH_STALE_SESSION');
  });

  it('MWP-WRK-016: carries structured progress', () => {
    const world = activeItem();
    const progress = {
      currentPhase: 'Testing',
      completedMilestones: [],
      nextCheckpoint: 'Soon',
      blockers: [],
      updatedCompletionEstimate: '2026-11-29T14:00:00Z',
      evidenceIds: [],
    };
    world.accept(renew(world, { leaseSeconds: 600, progress }));
    expect(itemOf(world).workItem.progress).toMatchObject({ updatedCompletionEstimate: '2026-11-29T14:00:00Z' });
    expect(world.outcome(renew(world, { leaseSeconds: 900, progress: { percent: 95 } }))).toBe('INVALID_COMMAND');
  });
});

describe('MWP-WRK-013a: renewing ownership while the work waits', () => {
  it('lengthens ownership of queued work, and the start-by deadline where it was the same', () => {
    const world = queuedItem();
    world.advance(899.999);
    world.accept(renewOwnership({ leaseSeconds: 1_200 }));
    const end = addSeconds(world.now, 1_200);
    expect(leasesOf(world, 'ownership')).toMatchObject([{ expiresAt: end, startBy: end, renewalCount: 1 }]);
    expect(itemOf(world).workItem).toMatchObject({ state: 'queued', revision: 4 });
  });

  it('does not put off a start that was promised earlier', () => {
    const startBy = '2026-11-29T12:01:00Z';
    const world = queuedItem({ accept: { startBy } });
    world.advance(30);
    world.accept(renewOwnership({ leaseSeconds: 1_200 }));
    expect(leasesOf(world, 'ownership')[0]?.startBy).toBe(startBy);
    world.advance(30);
    expect(world.outcome(renewOwnership({ leaseSeconds: 5_000 }))).toBe('WORK_LEASE_EXPIRED');
  });

  it('lengthens the blocked lease and ownership together, at most to the policy maximum', () => {
    const world = blockedItem();
    world.policy.leases.blockedMaximum = 1_000;
    world.accept(renewOwnership({ leaseSeconds: 5_000 }));
    const end = addSeconds(world.now, 1_000);
    expect(leasesOf(world, 'blocked')).toMatchObject([{ expiresAt: end, renewalCount: 1 }]);
    expect(leasesOf(world, 'ownership')).toMatchObject([{ expiresAt: end }]);
    world.advance(1_000);
    expect(world.outcome(renewOwnership({ leaseSeconds: 5_000 }))).toBe('WORK_LEASE_EXPIRED');
  });

  it('binds ownership to the session that renewed it', () => {
    const world = queuedItem();
    const session = world.view.mustGet('session', WORKER.id);
    world.view.set('session', WORKER.id, '', { ...session, sessionEpoch: 2 });
    world.accept({ ...renewOwnership({ leaseSeconds: 1_200 }), sessionEpoch: 2 });
    expect(leasesOf(world, 'ownership')[0]?.sessionEpoch).toBe(2);
  });

  it('is not for active work, nor for work that waits for review', () => {
    expect(activeItem().outcome(renewOwnership({ leaseSeconds: 1_200 }))).toBe('INVALID_COMMAND');
    expect(submittedItem().outcome(renewOwnership({ leaseSeconds: 1_200 }))).toBe('INVALID_STATE_TRANSITION');
  });
});
