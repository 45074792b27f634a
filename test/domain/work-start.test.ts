import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { CODING, MISSION, RIVAL, byOwner, seedAgent, WORKER } from '../support/fixtures.ts';
import { executionApprovalOf } from '../support/work-documents.ts';
import {
  activeItem,
  byAgent,
  CHECKPOINT,
  cited,
  ITEM,
  itemOf,
  leasesOf,
  only,
  openItem,
  OTHER_ITEM,
  queuedItem,
  queueOther,
  staffedMission,
  start,
  verifiedItem,
  type Overrides,
} from '../support/work-fixtures.ts';
import { seedItem } from '../support/seeded-work.ts';
import type { World } from '../support/world.ts';

const PERMISSION = { operations: ['read'], resources: [] as string[], budget: {} };

/** The owner's approval for the current revision of the Mission, ending in 600 seconds. */
function approve(world: World, ownershipEpoch = 1) {
  const expiresAt = addSeconds(world.now, 600);
  const budgetHash = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'; // of {}
  const approval = executionApprovalOf(ITEM, {
    missionRevision: world.view.mustGet('mission', MISSION).mission.revision,
    conditions: [
      'operation:read',
      `ownershipEpoch:${ownershipEpoch}`,
      `expiresAt:${expiresAt}`,
      `budgetHash:${budgetHash}`,
    ],
  });
  const payload = { workItemId: ITEM, ownershipEpoch, approval, ...PERMISSION, expiresAt };
  return byOwner('approval.grant_execution', payload);
}

describe('WT-7: work.start', () => {
  it('WT-7, MWP-WRK-013b: makes the item active under a lease with holder, session, epoch, begin and end', () => {
    const world = queuedItem();
    const event = only(world.accept(start()));
    const end = addSeconds(world.now, 300);
    expect(event).toMatchObject({ kind: 'work.started', aggregateRevision: 4 });
    expect(event.payload).toMatchObject({ workItemId: ITEM, ownershipEpoch: 1, executionLeaseExpiresAt: end });
    expect(itemOf(world).workItem.state).toBe('active');
    expect(leasesOf(world, 'execution')).toMatchObject([
      {
        leaseId: itemOf(world).details.executionLeaseId,
        holderAgentId: WORKER.id,
        sessionEpoch: 1,
        ownershipEpoch: 1,
        startsAt: world.now,
        expiresAt: end,
        renewalCount: 0,
      },
    ]);
  });

  it('(e): while active, ownership ends with execution, earlier or later than it did', () => {
    const short = queuedItem();
    short.accept(start());
    expect(leasesOf(short, 'ownership')[0]?.expiresAt).toBe(addSeconds(short.now, 300));
    const long = queuedItem();
    long.accept(start({ executionLeaseSeconds: 3_600 }));
    expect(leasesOf(long, 'ownership')[0]?.expiresAt).toBe(addSeconds(long.now, 3_600));
  });

  it('(e): shortens the lease to the policy, the deadline of the contract and that of the Mission', () => {
    const world = queuedItem();
    world.policy.leases.executionMaximum = 60;
    world.accept(start({ executionLeaseSeconds: 3_600 }));
    expect(leasesOf(world, 'execution')[0]?.expiresAt).toBe(addSeconds(world.now, 60));
    const soon = queuedItem({ contract: { deadline: addSeconds(world.now, 100) } });
    soon.accept(start());
    expect(leasesOf(soon, 'execution')[0]?.expiresAt).toBe(addSeconds(world.now, 100));
    const amended = queuedItem();
    const { mission, details } = amended.view.mustGet('mission', MISSION);
    const deadline = addSeconds(world.now, 50);
    amended.view.set('mission', MISSION, mission.groupId, { mission: { ...mission, deadline }, details });
    amended.accept(start());
    expect(leasesOf(amended, 'execution')[0]?.expiresAt).toBe(deadline);
  });

  it('grants no lease once the deadline of the Mission has passed', () => {
    const world = queuedItem();
    const { mission, details } = world.view.mustGet('mission', MISSION);
    world.view.set('mission', MISSION, mission.groupId, { mission: { ...mission, deadline: world.now }, details });
    expect(world.outcome(start())).toBe('INVALID_COMMAND');
  });

  it('MWP-WRK-013a: refuses a start at the start-by deadline and takes one just before', () => {
    const world = queuedItem({ accept: { startBy: '2026-11-29T12:01:00Z' } });
    world.advance(59.999);
    expect(world.outcome(start())).toBe('accepted');
    world.advance(0.001);
    expect(world.outcome(start())).toBe('WORK_LEASE_EXPIRED');
  });

  it('E-WORK_LEASE_EXPIRED: refuses a start when ownership has ended', () => {
    const world = queuedItem();
    world.advance(899.999);
    expect(world.outcome(start())).toBe('accepted');
    world.advance(0.001);
    expect(world.outcome(start())).toBe('WORK_LEASE_EXPIRED');
  });

  it('resumes after a checkpoint although the first start-by deadline is long over', () => {
    const world = activeItem({ accept: { startBy: '2026-11-29T12:00:10Z' } });
    world.advance(200);
    world.accept(byAgent(WORKER, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT }));
    world.advance(100);
    world.accept(start());
    expect(leasesOf(world, 'execution')).toHaveLength(2);
  });

  describe('checks in their order', () => {
    it('E-WORK_STALE_OWNERSHIP, E-AUTH_FORBIDDEN: the epoch, then the owner', () => {
      const world = queuedItem();
      expect(world.outcome(start({ ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
      const rival = { workItemId: ITEM, ownershipEpoch: 1 };
      expect(world.outcome(byAgent(RIVAL, 'work.start', rival))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byAgent(RIVAL, 'work.start', { ...rival, ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
    });

    it('E-AUTH_STALE_SESSION: comes before everything that the item says', () => {
      expect(queuedItem().outcome(start({ ownershipEpoch: 9 }, { sessionEpoch: 2 }))).toBe('AUTH_STALE_SESSION');
    });

    it('E-REVISION_CONFLICT: compares expectedRevision with the item', () => {
      expect(queuedItem().outcome(start({}, { expectedRevision: 3 }))).toBe('accepted');
      expect(queuedItem().outcome(start({}, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
    });

    it('starts nothing twice, and nothing in a Mission that awaits approval', () => {
      const world = activeItem();
      expect(world.outcome(start())).toBe('INVALID_STATE_TRANSITION');
      const queued = queuedItem();
      const { mission, details } = queued.view.mustGet('mission', MISSION);
      const awaiting = { mission: { ...mission, state: 'awaiting_approval' as const }, details };
      queued.view.set('mission', MISSION, mission.groupId, awaiting);
      expect(queued.outcome(start())).toBe('INVALID_STATE_TRANSITION');
    });
  });

  describe('MWP-WRK-007b: dependencies', () => {
    const dependent = { dependencyWorkItemIds: [OTHER_ITEM] };

    it('refuses a start while one is not verified, and takes it once it is', () => {
      const unmet = openItem({ authorize: { workItemId: OTHER_ITEM } });
      queuedItem({ contract: dependent }, unmet);
      expect(unmet.decide(start())).toMatchObject({
        code: 'INVALID_STATE_TRANSITION',
        details: { workItemId: OTHER_ITEM },
      });
      const met = queueOther(verifiedItem(), { dependencyWorkItemIds: [ITEM] });
      expect(met.outcome(start({ workItemId: OTHER_ITEM }))).toBe('accepted');
    });

    it('MWP-WRK-007a: two branches run side by side', () => {
      const world = queueOther(activeItem());
      expect(world.outcome(start({ workItemId: OTHER_ITEM }))).toBe('accepted');
    });
  });

  describe('(f): active items over all Groups', () => {
    it('E-RATE_LIMITED, MWP-WRK-011a: up to the policy and to what the Card promises', () => {
      const world = queuedItem();
      seedItem(world, { workItemId: OTHER_ITEM, groupId: 'urn:test:group:9', missionId: 'urn:test:mission:9' });
      seedAgent(world, WORKER, [CODING], 2);
      expect(world.outcome(start())).toBe('accepted');
      seedAgent(world, WORKER, [CODING], 1);
      expect(world.decide(start())).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 'active_work_items' } });
      seedAgent(world, WORKER, [CODING], 9);
      world.policy.limits.activeWorkItems = 1;
      expect(world.outcome(start())).toBe('RATE_LIMITED');
    });

    it('refuses an override grant, which nobody can hold yet', () => {
      expect(queuedItem().outcome(start({}, { cooperationOverrideGrantId: 'urn:test:grant:1' }))).toBe(
        'INVALID_COMMAND',
      );
    });
  });

  describe('MWP-AUT-003a: the approval gate', () => {
    const risky = { sideEffectRisk: 'external', executionApproval: 'human_required' };

    it('MWP-AUT-003b: low-risk work goes ahead by itself', () => {
      expect(queuedItem().outcome(start())).toBe('accepted');
    });

    it('E-APPROVAL_REQUIRED, MWP-AUT-003a: other work waits for the approval of its Ownership Epoch, until the end of it', () => {
      const world = queuedItem({ contract: risky });
      expect(world.outcome(start())).toBe('APPROVAL_REQUIRED');
      world.accept(approve(world));
      world.advance(599.999);
      expect(world.outcome(start())).toBe('accepted');
      world.advance(0.001);
      expect(world.outcome(start())).toBe('APPROVAL_REQUIRED');
    });

    it('T-2: the item stays queued meanwhile', () => {
      const world = queuedItem({ contract: risky });
      world.accept(approve(world));
      expect(itemOf(world).workItem).toMatchObject({ state: 'queued', revision: 3 });
    });

    it('policy_required waits for a human too, unless the policy lets the authority decide', () => {
      const given: Overrides = { contract: { executionApproval: 'policy_required' } };
      const world = queuedItem(given);
      expect(world.outcome(start())).toBe('APPROVAL_REQUIRED');
      world.policy.autoApprovePolicyRequired = true;
      expect(world.outcome(start())).toBe('accepted');
    });

    it('no policy decides for a human', () => {
      const world = queuedItem({ contract: { ...risky, sideEffectRisk: 'destructive' } }, staffedMission());
      world.policy.autoApprovePolicyRequired = true;
      expect(world.outcome(start())).toBe('APPROVAL_REQUIRED');
    });
  });
});
