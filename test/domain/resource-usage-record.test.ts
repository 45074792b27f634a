import { describe, expect, it } from 'vitest';
import { missionAccountId, workItemAccountId } from '../../src/domain/aggregates.ts';
import { NO_AMOUNTS } from '../../src/domain/budget.ts';
import { byCoordinator, GROUP, MISSION, OTHER_HUMAN, RIVAL, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  authorize,
  byAgent,
  CHECKPOINT,
  cited,
  ITEM,
  itemOf,
  leaseIdOf,
  missionRevision,
  only,
  OTHER_ITEM,
  verifiedItem,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const KIND = 'ext.missionweaveprotocol.core.resource_usage_record';
const METER = { type: 'service', id: 'urn:test:service:meter' } as const;

function record(world: World, usageDelta: object, payload: object = {}, envelope: object = {}): CommandDraft {
  return byAgent(WORKER, KIND, { ...cited(world), usageDelta, ...payload }, envelope);
}

function metered(world: World, executionLeaseId: string, payload: object = {}): CommandDraft {
  world.policy.services = [{ serviceId: METER.id, kinds: [KIND], relay: false }];
  const members = { workItemId: ITEM, ownershipEpoch: 1, executionLeaseId, usageDelta: { modelTokens: 1 } };
  return { kind: KIND, actor: METER, groupId: GROUP, payload: { ...members, ...payload } };
}

const accountOf = (world: World, workItemId = ITEM) =>
  world.view.mustGet('budget_account', workItemAccountId(workItemId));

describe('MWP-AUT-005b: resource_usage_record', () => {
  it('MWP-AUT-005b: charges the item; the Event shows delta, cumulative and remaining', () => {
    const world = activeItem();
    world.accept(record(world, { modelTokens: 300, financialMicrounits: 1 }));
    const event = only(world.accept(record(world, { modelTokens: 200 })));
    expect(event).toMatchObject({ kind: 'ext.missionweaveprotocol.core.resource_usage_recorded', workItemId: ITEM });
    expect(event.payload).toEqual({
      ...cited(world),
      usageDelta: { ...NO_AMOUNTS, modelTokens: 200 },
      cumulativeUsage: { ...NO_AMOUNTS, modelTokens: 500, financialMicrounits: 1 },
      remainingBudget: {
        financialMicrounits: 9_999_999,
        modelTokens: 500,
        toolCalls: null,
        computeSeconds: null,
        wallClockSeconds: null,
        externalActions: null,
      },
    });
    expect(accountOf(world).usage).toMatchObject({ modelTokens: 500, financialMicrounits: 1 });
  });

  it('(c): bumps no revision, neither of the item nor of the Mission', () => {
    const world = activeItem();
    expect(only(world.accept(record(world, { modelTokens: 1 }))).aggregateRevision).toBe(4);
    expect(itemOf(world).workItem.revision).toBe(4);
    expect(missionRevision(world)).toBe(2);
    expect(world.outcome(record(world, { modelTokens: 1 }, {}, { expectedRevision: 4 }))).toBe('accepted');
    expect(world.outcome(record(world, { modelTokens: 1 }, {}, { expectedRevision: 3 }))).toBe('REVISION_CONFLICT');
  });

  it.each([
    ['nothing at all', {}],
    ['zero in every dimension', { modelTokens: 0, toolCalls: 0 }],
    ['less than nothing', { modelTokens: -1 }],
    ['half a token', { modelTokens: 0.5 }],
    ['an unknown dimension', { electricity: 1 }],
  ])('MWP-AUT-005b: refuses %s', (_, delta) => {
    const world = activeItem();
    expect(world.outcome(record(world, delta))).toBe('INVALID_COMMAND');
  });

  describe('MWP-AUT-005c: all or nothing', () => {
    it('E-BUDGET_EXCEEDED: takes the last unit and refuses one more, naming the dimension', () => {
      const world = activeItem();
      expect(world.outcome(record(world, { modelTokens: 1_000 }))).toBe('accepted');
      const before = world.view.all();
      const refused = world.decide(record(world, { financialMicrounits: 1, modelTokens: 1_001 }));
      expect(refused).toMatchObject({ code: 'BUDGET_EXCEEDED', details: { dimension: 'modelTokens' } });
      expect(world.view.all()).toEqual(before);
    });

    it('E-BUDGET_EXCEEDED: a dimension that the contract does not have cannot be used', () => {
      const world = activeItem();
      expect(world.outcome(record(world, { toolCalls: 1 }))).toBe('BUDGET_EXCEEDED');
    });

    it('MWP-AUT-005c: what was handed on to a sub-item is not the item’s to use', () => {
      const world = activeItem();
      const child = {
        payload: { workItemId: OTHER_ITEM, parentWorkItemId: ITEM },
        contract: { budget: { modelTokenLimit: 400 } },
      };
      world.accept(authorize(child));
      expect(world.outcome(record(world, { modelTokens: 601 }))).toBe('BUDGET_EXCEEDED');
      expect(world.outcome(record(world, { modelTokens: 600 }))).toBe('accepted');
      expect(world.view.mustGet('budget_account', missionAccountId(MISSION)).usage).toEqual(NO_AMOUNTS);
    });

    it('refuses sums beyond 2^53 - 1', () => {
      const world = activeItem();
      expect(world.outcome(record(world, { modelTokens: Number.MAX_SAFE_INTEGER }))).toBe('BUDGET_EXCEEDED');
      expect(world.outcome(record(world, { modelTokens: Number.MAX_SAFE_INTEGER + 1 }))).toBe('INVALID_COMMAND');
    });
  });

  it('MWP-AUT-004b: exhaustion goes into the policy log, once', () => {
    const world = activeItem();
    expect(world.decide(record(world, { modelTokens: 999 }))).not.toHaveProperty('policyLog');
    const exhausting = record(world, { modelTokens: 1_000 });
    expect(world.decide(exhausting)).toMatchObject({
      policyLog: [{ draft: 0, details: { workItemId: ITEM, dimensions: ['modelTokens'] } }],
    });
    world.accept(exhausting);
    expect(world.decide(record(world, { financialMicrounits: 1 }))).not.toHaveProperty('policyLog');
  });

  describe('who may report', () => {
    it('MWP-AUT-005b: the executing owner, under its epoch and lease, before that ends', () => {
      const world = activeItem();
      const delta = { modelTokens: 1 };
      expect(world.outcome(record(world, delta, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
      expect(world.outcome(record(world, delta, { executionLeaseId: 'urn:test:lease:old' }))).toBe(
        'WORK_LEASE_EXPIRED',
      );
      expect(world.outcome(byAgent(RIVAL, KIND, { ...cited(world), usageDelta: delta }))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byCoordinator(KIND, { ...cited(world), usageDelta: delta }))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome({ ...record(world, delta), actor: OTHER_HUMAN })).toBe('AUTH_FORBIDDEN');
      world.advance(300);
      expect(world.outcome(record(world, delta))).toBe('WORK_LEASE_EXPIRED');
    });

    it('MWP-MSN-010c: a service that the policy names, and no other', () => {
      const world = activeItem();
      const draft = metered(world, leaseIdOf(world));
      expect(world.outcome(draft)).toBe('accepted');
      world.policy.services = [];
      expect(world.outcome(draft)).toBe('AUTH_FORBIDDEN');
    });

    it('(d): a service also after the lease and the work ended, while the account is not settled', () => {
      const world = activeItem();
      const lease = leaseIdOf(world);
      world.accept(byAgent(WORKER, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT }));
      world.accept(byCoordinator('work.cancel', { workItemId: ITEM, reason: 'No need' }));
      const event = only(world.accept(metered(world, lease)));
      expect(event.actor).toEqual(METER);
      expect(accountOf(world)).toMatchObject({ state: 'closed', usage: { modelTokens: 1 } });
      expect(world.outcome(metered(world, lease, { usageDelta: { modelTokens: 1_000 } }))).toBe('BUDGET_EXCEEDED');
      world.view.set('budget_account', workItemAccountId(ITEM), GROUP, { ...accountOf(world), state: 'released' });
      expect(world.outcome(metered(world, lease))).toBe('INVALID_STATE_TRANSITION');
    });

    it('names an Execution Lease of that item and epoch', () => {
      const world = verifiedItem();
      const [execution] = world.view.all().filter(({ kind, document }) => {
        return kind === 'lease' && (document as { leaseType: string }).leaseType === 'execution';
      });
      const [ownership] = world.view.all().filter(({ kind, document }) => {
        return kind === 'lease' && (document as { leaseType: string }).leaseType === 'ownership';
      });
      const leaseId = execution?.id ?? '';
      expect(world.outcome(metered(world, leaseId))).toBe('accepted');
      expect(world.outcome(metered(world, leaseId, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
      expect(world.outcome(metered(world, ownership?.id ?? ''))).toBe('INVALID_COMMAND');
      expect(world.outcome(metered(world, 'urn:test:lease:none'))).toBe('INVALID_COMMAND');
    });

    it('never writes into an archived Group', () => {
      const world = activeItem();
      const group = world.view.mustGet('group', GROUP);
      world.view.set('group', GROUP, GROUP, { ...group, state: 'archived' });
      expect(world.outcome(metered(world, leaseIdOf(world)))).toBe('INVALID_STATE_TRANSITION');
    });
  });
});
