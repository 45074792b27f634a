import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { byCoordinator, RIVAL, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  blockedItem,
  byAgent,
  CHECKPOINT,
  cited,
  ITEM,
  itemOf,
  leasesOf,
  missionRevision,
  only,
  queuedItem,
  start,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

function block(world: World, payload: object = {}, envelope: object = {}): CommandDraft {
  const members = { ...cited(world), reason: 'Needs a decision', checkpoint: CHECKPOINT, ...payload };
  return byAgent(WORKER, 'work.block', members, envelope);
}

const unblock = (payload: object = {}, envelope: object = {}) =>
  byCoordinator('work.unblock', { workItemId: ITEM, ...payload }, envelope);

describe('WT-9: work.block', () => {
  it('WT-9, MWP-WRK-017a: frees the slot, keeps the owner under a bounded blocked lease and says what is needed', () => {
    const world = activeItem();
    world.advance(10);
    const event = only(world.accept(block(world)));
    const end = addSeconds(world.now, 900);
    expect(event).toMatchObject({ kind: 'work.blocked', aggregateRevision: 5 });
    expect(event.payload).toMatchObject({ reason: 'Needs a decision', ownershipLeaseExpiresAt: end });
    expect(itemOf(world)).toMatchObject({ workItem: { state: 'blocked', owner: { agentId: WORKER.id } } });
    expect(itemOf(world).details.blocker).toHaveProperty('commitment');
    expect(leasesOf(world, 'execution')).toMatchObject([{ state: 'released', closureReason: 'blocked' }]);
    expect(leasesOf(world, 'blocked')).toMatchObject([{ expiresAt: end, ownershipEpoch: 1, state: 'active' }]);
    expect(leasesOf(world, 'ownership')).toMatchObject([{ expiresAt: end, state: 'active' }]);
    expect(world.view.mustGet('checkpoint', itemOf(world).details.latestCheckpointId ?? '').workItemId).toBe(ITEM);
  });

  it('MWP-WRK-017a: refuses a block without the needed resolution or without a checkpoint', () => {
    const world = activeItem();
    expect(world.outcome(block(world, { reason: undefined }))).toBe('INVALID_COMMAND');
    expect(world.outcome(block(world, { reason: '' }))).toBe('INVALID_COMMAND');
    expect(world.outcome(block(world, { checkpoint: undefined }))).toBe('INVALID_COMMAND');
  });

  it('(e): the blocked lease is at most the policy maximum and ends with the deadline', () => {
    const world = activeItem();
    world.policy.leases.blockedMaximum = 60;
    world.accept(block(world, { blockedLeaseSeconds: 5_000 }));
    expect(leasesOf(world, 'blocked')[0]?.expiresAt).toBe(addSeconds(world.now, 60));
    const soon = activeItem({ contract: { deadline: addSeconds(world.now, 500) } });
    soon.accept(block(soon));
    expect(leasesOf(soon, 'blocked')[0]?.expiresAt).toBe(addSeconds(world.now, 500));
  });

  it('is for the executing owner alone, before its lease ends', () => {
    const world = activeItem();
    expect(world.outcome(block(world, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
    expect(world.outcome(byAgent(RIVAL, 'work.block', block(world).payload))).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(block(world, {}, { expectedRevision: 3 }))).toBe('REVISION_CONFLICT');
    world.advance(300);
    expect(world.outcome(block(world))).toBe('WORK_LEASE_EXPIRED');
    const queued = queuedItem();
    expect(queued.outcome(block(queued))).toBe('INVALID_STATE_TRANSITION');
  });
});

describe('WT-10: work.unblock', () => {
  it('MWP-WRK-017b: returns the item to a live owner, who may resume within the window', () => {
    const world = blockedItem();
    world.advance(899.999);
    const event = only(world.accept(unblock({ resolution: 'Take the left one' })));
    expect(event).toMatchObject({ kind: 'work.unblocked', payload: { status: 'queued' } });
    const { workItem, details } = itemOf(world);
    expect(workItem).toMatchObject({ state: 'queued', owner: { agentId: WORKER.id } });
    expect(details).not.toHaveProperty('blocker');
    expect(details).not.toHaveProperty('blockedLeaseId');
    expect(leasesOf(world, 'blocked')).toMatchObject([{ state: 'released', closureReason: 'unblocked' }]);
    expect(leasesOf(world, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 900));
    expect(missionRevision(world)).toBe(2);
    world.accept(start());
  });

  it('MWP-WRK-017b: opens the item when ownership ended at that very moment, and fences who owned it', () => {
    const world = blockedItem();
    world.advance(900);
    expect(only(world.accept(unblock())).payload).toMatchObject({ status: 'open' });
    const { workItem, details } = itemOf(world);
    expect(workItem.state).toBe('open');
    expect(workItem.owner).toBeUndefined();
    expect(details.ownershipEpoch).toBe(2);
    expect(leasesOf(world, 'blocked')).toMatchObject([{ state: 'expired' }]);
    expect(leasesOf(world, 'ownership')).toMatchObject([{ state: 'expired' }]);
    expect(world.outcome(start())).toBe('WORK_STALE_OWNERSHIP');
  });

  it('T-6: only the current Coordinator unblocks, and only what is blocked', () => {
    const world = blockedItem();
    expect(world.outcome(byAgent(WORKER, 'work.unblock', { workItemId: ITEM }, { coordinatorEpoch: 1 }))).toBe(
      'AUTH_FORBIDDEN',
    );
    expect(world.outcome(unblock({}, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
    expect(world.outcome(unblock({}, { expectedRevision: 4 }))).toBe('REVISION_CONFLICT');
    expect(world.outcome(unblock({}, { expectedRevision: 5 }))).toBe('accepted');
    expect(world.outcome(unblock({ workItemId: 'urn:test:work:none' }))).toBe('INVALID_COMMAND');
    expect(activeItem().outcome(unblock())).toBe('INVALID_STATE_TRANSITION');
  });

  it('WT-10: not while a linked child Mission runs; the link of one that failed is gone afterwards', () => {
    const world = blockedItem();
    const childMissionId = 'urn:test:mission:child';
    const { mission, details: missionDetails } = world.view.mustGet('mission', 'urn:test:mission:1');
    const child = (state: 'active' | 'failed') =>
      world.view.set('mission', childMissionId, 'urn:test:group:child', {
        mission: { ...mission, missionId: childMissionId, groupId: 'urn:test:group:child', state },
        details: missionDetails,
      });
    const { workItem, details } = itemOf(world);
    world.view.set('work_item', ITEM, workItem.groupId, { workItem, details: { ...details, childMissionId } });
    child('active');
    expect(world.outcome(unblock())).toBe('INVALID_STATE_TRANSITION');
    child('failed');
    world.accept(unblock());
    expect(itemOf(world).details).not.toHaveProperty('childMissionId');
  });
});
