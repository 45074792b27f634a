import { describe, expect, it } from 'vitest';
import { missionAccountId, workItemAccountId } from '../../src/domain/aggregates.ts';
import { byCoordinator, byOwner, MISSION, OWNER, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  authorize,
  byAgent,
  cited,
  ITEM,
  ITEM_IN_STATE,
  itemOf,
  leasesOf,
  missionRevision,
  offer,
  offeredItem,
  only,
  openItem,
  OTHER_ITEM,
  start,
} from '../support/work-fixtures.ts';

const cancel = (payload: object = {}, envelope: object = {}) =>
  byCoordinator('work.cancel', { workItemId: ITEM, reason: 'No longer needed', ...payload }, envelope);

describe('WT-14: work.cancel', () => {
  it('WT-14, MWP-AUT-006: ends the item for good: fenced, leases revoked, account closed, one Mission revision', () => {
    const world = activeItem();
    const event = only(world.accept(cancel()));
    expect(event).toMatchObject({ kind: 'work.cancelled', aggregateRevision: 5 });
    const { workItem, details } = itemOf(world);
    expect(workItem.state).toBe('cancelled');
    expect(workItem.owner).toBeUndefined();
    expect(details.ownershipEpoch).toBe(2);
    for (const type of ['execution', 'ownership'] as const) {
      expect(leasesOf(world, type)).toMatchObject([{ state: 'revoked', closureReason: 'cancelled' }]);
    }
    expect(world.view.mustGet('budget_account', workItemAccountId(ITEM))).toMatchObject({ state: 'closed' });
    expect(missionRevision(world)).toBe(3);
    expect(JSON.stringify(world.view.all())).not.toContain('No longer needed');
  });

  it('MWP-AUT-006: afterwards old epochs are stale and nothing is offered any more', () => {
    const world = activeItem();
    const before = cited(world);
    world.accept(cancel());
    const renewal = byAgent(WORKER, 'ext.missionweaveprotocol.core.work_execution_lease_renew', before);
    expect(world.outcome(renewal)).toBe('WORK_STALE_OWNERSHIP');
    expect(world.outcome(start())).toBe('WORK_STALE_OWNERSHIP');
    expect(world.outcome(offer())).toBe('INVALID_STATE_TRANSITION');
    expect(world.outcome(cancel())).toBe('INVALID_STATE_TRANSITION');
  });

  it('withdraws pending offers', () => {
    const world = offeredItem();
    world.accept(cancel());
    expect(itemOf(world).workItem.offers).toMatchObject([{ status: 'withdrawn' }]);
    expect(itemOf(world).details.ownershipEpoch).toBe(0);
  });

  it.each(['open', 'offered', 'queued', 'active', 'blocked', 'submitted'] as const)('ends %s work', (state) => {
    const world = ITEM_IN_STATE[state]();
    world.accept(cancel());
    expect(itemOf(world).workItem.state).toBe('cancelled');
  });

  it('T-6: the Coordinator and the MissionOwner may, nobody else', () => {
    const world = openItem();
    const payload = { workItemId: ITEM, reason: 'x' };
    expect(world.outcome(byOwner('work.cancel', payload))).toBe('accepted');
    expect(world.outcome(byAgent(WORKER, 'work.cancel', payload))).toBe('AUTH_STALE_COORDINATOR');
    expect(world.outcome(byAgent(WORKER, 'work.cancel', payload, { coordinatorEpoch: 1 }))).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(cancel({}, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
    expect(world.outcome(cancel({ reason: '' }))).toBe('INVALID_COMMAND');
    expect(world.outcome(cancel({ workItemId: OTHER_ITEM }))).toBe('INVALID_COMMAND');
    expect(world.outcome(cancel({}, { expectedRevision: 1 }))).toBe('accepted');
    expect(world.outcome(cancel({}, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
  });

  describe('(d): what it did not use returns to its parent', () => {
    const allocated = (world: ReturnType<typeof openItem>) =>
      world.view.mustGet('budget_account', missionAccountId(MISSION)).allocated.modelTokens;
    const whole = { budget: { modelTokenLimit: 1_000_000 } };
    const next = authorize({ payload: { workItemId: OTHER_ITEM }, contract: whole });

    it('only when the metering window has passed, with the next allocation that needs it', () => {
      const world = openItem({ contract: whole });
      world.accept(cancel());
      expect(allocated(world)).toBe(1_000_000);
      world.advance(3_599.999);
      expect(world.outcome(next)).toBe('BUDGET_EXCEEDED');
      world.advance(0.001);
      const event = only(world.accept(next));
      expect(event.payload['releases']).toMatchObject([
        { accountId: workItemAccountId(ITEM), returned: { modelTokens: 1_000_000 } },
      ]);
      expect(allocated(world)).toBe(1_000_000);
      expect(world.view.mustGet('budget_account', workItemAccountId(ITEM))).toMatchObject({
        state: 'released',
        limit: { modelTokens: 0 },
      });
    });

    it('at once, when the policy leaves no window', () => {
      const world = openItem({ contract: whole });
      world.policy.meteringWindowSeconds = 0;
      world.accept(cancel());
      expect(allocated(world)).toBe(0);
      expect(world.outcome(next)).toBe('accepted');
    });

    it('but what was used stays used', () => {
      const world = activeItem({ contract: whole });
      const usage = { ...cited(world), usageDelta: { modelTokens: 1 } };
      world.accept(byAgent(WORKER, 'ext.missionweaveprotocol.core.resource_usage_record', usage));
      world.accept(cancel());
      world.advance(3_600);
      expect(world.outcome(next)).toBe('BUDGET_EXCEEDED');
      const rest = { budget: { modelTokenLimit: 999_999 } };
      expect(world.outcome(authorize({ payload: { workItemId: OTHER_ITEM }, contract: rest }))).toBe('accepted');
    });

    it('and work that fits without it releases nothing', () => {
      const world = openItem();
      world.accept(cancel());
      world.advance(3_600);
      const event = only(world.accept(authorize({ payload: { workItemId: OTHER_ITEM } })));
      expect(event.payload['releases']).toEqual([]);
    });
  });

  it('is the same as with its Mission, but for the revision of the Mission (WT-18)', () => {
    const world = activeItem();
    const events = world.accept(byOwner('mission.cancel', { reason: 'Enough' }));
    expect(events.map(({ kind }) => kind)).toEqual(['mission.cancelled', 'work.cancelled']);
    expect(itemOf(world)).toMatchObject({ workItem: { state: 'cancelled' }, details: { ownershipEpoch: 2 } });
    expect(missionRevision(world)).toBe(2);
    expect(world.view.mustGet('mission', MISSION).mission.missionOwner).toEqual(OWNER);
  });
});
