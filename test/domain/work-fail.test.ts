import { describe, expect, it } from 'vitest';
import { workItemAccountId } from '../../src/domain/aggregates.ts';
import { byCoordinator, COORDINATOR, RIVAL, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  blockedItem,
  byAgent,
  cited,
  failedItem,
  failureReport,
  ITEM,
  ITEM_IN_STATE,
  itemOf,
  leasesOf,
  missionRevision,
  offeredItem,
  only,
  submittedItem,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const report = failureReport({ generatedBy: COORDINATOR });

function byWorkerItself(world: World, payload: object = {}, envelope: object = {}): CommandDraft {
  const members = { ...cited(world), reason: 'It cannot be done', evidence: [failureReport()], ...payload };
  return byAgent(WORKER, 'work.fail', members, envelope);
}

const byTheCoordinator = (payload: object = {}, envelope: object = {}) =>
  byCoordinator('work.fail', { workItemId: ITEM, reason: 'No use', evidence: [report], ...payload }, envelope);

describe('WT-13: work.fail', () => {
  it('WT-13, MWP-WRK-014b: revokes the leases and shows whose it was until a new offer fences it', () => {
    const world = activeItem();
    const event = only(world.accept(byWorkerItself(world, { failureCode: 'TIMEOUT' })));
    expect(event).toMatchObject({ kind: 'work.failed', aggregateRevision: 5, payload: { failureCode: 'TIMEOUT' } });
    const { workItem, details } = itemOf(world);
    expect(workItem).toMatchObject({ state: 'failed', owner: { agentId: WORKER.id } });
    expect(details).toMatchObject({ ownershipEpoch: 1, endReason: {} });
    expect(details).not.toHaveProperty('executionLeaseId');
    for (const type of ['execution', 'ownership'] as const) {
      expect(leasesOf(world, type)).toMatchObject([{ state: 'revoked', closureReason: 'failed' }]);
    }
    expect(missionRevision(world)).toBe(3);
    expect(JSON.stringify(world.view.all())).not.toContain('cannot be done');
  });

  it('(d): keeps its budget, since it can be offered again', () => {
    const world = failedItem();
    expect(world.view.mustGet('budget_account', workItemAccountId(ITEM))).toMatchObject({ state: 'open' });
  });

  it('withdraws the offers of work that nobody has taken yet', () => {
    const world = offeredItem();
    world.accept(byTheCoordinator());
    expect(itemOf(world).workItem.offers).toMatchObject([{ status: 'withdrawn' }]);
  });

  it.each(['open', 'offered', 'queued', 'active', 'blocked', 'submitted'] as const)(
    'the Coordinator fails %s work',
    (state) => {
      const world = ITEM_IN_STATE[state]();
      world.accept(byTheCoordinator());
      expect(itemOf(world).workItem.state).toBe('failed');
    },
  );

  describe('MWP-WRK-018b: Evidence of the failure', () => {
    it.each([
      ['none', []],
      ['only of another type', [failureReport({ type: 'policy_check' })]],
      ['about another item', [failureReport({ workItemId: 'urn:test:work:2' })]],
    ])('MWP-WRK-018b: refuses a failure with Evidence: %s', (_, evidence) => {
      const world = activeItem();
      expect(world.outcome(byWorkerItself(world, { evidence }))).toBe('INVALID_COMMAND');
    });

    it('keeps it', () => {
      expect(failedItem().view.get('evidence', 'urn:test:evidence:failure')).toMatchObject({ type: 'failure_report' });
    });
  });

  describe('who may', () => {
    it('the owner cites epoch and lease, both, while it executes', () => {
      const world = activeItem();
      expect(world.outcome(byWorkerItself(world, { executionLeaseId: undefined }))).toBe('INVALID_COMMAND');
      expect(world.outcome(byWorkerItself(world, { ownershipEpoch: undefined }))).toBe('INVALID_COMMAND');
      const neither = { executionLeaseId: undefined, ownershipEpoch: undefined };
      expect(world.outcome(byWorkerItself(world, neither))).toBe('INVALID_COMMAND');
      expect(world.outcome(byWorkerItself(world, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
      expect(world.outcome(byAgent(RIVAL, 'work.fail', byWorkerItself(world).payload))).toBe('AUTH_FORBIDDEN');
      world.advance(300);
      expect(world.outcome(byWorkerItself(world))).toBe('WORK_LEASE_EXPIRED');
      const blocked = blockedItem();
      expect(blocked.outcome(byWorkerItself(blocked))).toBe('INVALID_STATE_TRANSITION');
    });

    it('the Coordinator cites its epoch', () => {
      const world = submittedItem();
      expect(world.outcome(byTheCoordinator({}, { coordinatorEpoch: undefined }))).toBe('AUTH_STALE_COORDINATOR');
      expect(world.outcome(byTheCoordinator({}, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
      const worker = { workItemId: ITEM, reason: 'x', evidence: [report] };
      expect(world.outcome(byAgent(WORKER, 'work.fail', worker, { coordinatorEpoch: 1 }))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byTheCoordinator({}, { expectedRevision: 5 }))).toBe('REVISION_CONFLICT');
      expect(world.outcome(byTheCoordinator({}, { expectedRevision: 6 }))).toBe('accepted');
    });
  });
});
