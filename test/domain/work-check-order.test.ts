// MWP-EVT-004a: the checks of a work Command, each as the only fault with its own code, and two faults answered by the
// earlier check: epochs, revision, lease, role, state, meaning, budget.
import { describe, expect, it } from 'vitest';
import { byCoordinator, GROUP, OTHER_HUMAN, RIVAL, STRANGER, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  authorize,
  byAgent,
  cited,
  contractOf,
  ITEM,
  offer,
  OTHER_ITEM,
  staffedMission,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';

function usage(world: World, payload: object = {}, envelope: object = {}): CommandDraft {
  return byAgent(WORKER, USAGE, { ...cited(world), usageDelta: { modelTokens: 1 }, ...payload }, envelope);
}

/** In the order of the checks. */
const FAULTS: [string, string, { payload?: object; envelope?: object }][] = [
  ['a stale session', 'AUTH_STALE_SESSION', { envelope: { sessionEpoch: 9 } }],
  ['no Membership', 'GROUP_NOT_FOUND', { envelope: { actor: STRANGER } }],
  ['a stale Membership Epoch', 'MEMBERSHIP_STALE', { envelope: { membershipEpoch: 9 } }],
  ['a malformed payload', 'INVALID_COMMAND', { payload: { surprise: 1 } }],
  ['a stale revision', 'REVISION_CONFLICT', { envelope: { expectedRevision: 1 } }],
  ['a stale Ownership Epoch', 'WORK_STALE_OWNERSHIP', { payload: { ownershipEpoch: 9 } }],
  ['another Agent', 'AUTH_FORBIDDEN', { envelope: { actor: RIVAL } }],
  ['another lease', 'WORK_LEASE_EXPIRED', { payload: { executionLeaseId: 'urn:test:lease:other' } }],
  ['more than the budget', 'BUDGET_EXCEEDED', { payload: { usageDelta: { modelTokens: 1_001 } } }],
];

describe('MWP-EVT-004a: the checks of a work Command', () => {
  it.each(FAULTS)('MWP-EVT-004a: %s alone is %s', (_, code, { payload, envelope }) => {
    const world = activeItem();
    expect(world.outcome(usage(world))).toBe('accepted');
    expect(world.outcome(usage(world, payload, envelope))).toBe(code);
  });

  it.each(FAULTS.slice(1))('%s comes after every earlier check', (_, code, later) => {
    const position = FAULTS.findIndex(([, candidate]) => candidate === code);
    for (const [, earlierCode, earlier] of FAULTS.slice(0, position)) {
      const world = activeItem();
      const both = usage(world, { ...later.payload, ...earlier.payload }, { ...later.envelope, ...earlier.envelope });
      expect(world.outcome(both), earlierCode).toBe(earlierCode);
    }
  });

  it('E-INVALID_COMMAND: an unknown item is a wrong reference, and no role is asked for it', () => {
    const world = activeItem();
    expect(world.outcome(usage(world, { workItemId: OTHER_ITEM }))).toBe('INVALID_COMMAND');
    expect(world.outcome(usage(world, {}, { workItemId: OTHER_ITEM }))).toBe('INVALID_COMMAND');
  });

  it('E-INVALID_STATE_TRANSITION: role and lease of a Coordinator come before state, state before meaning', () => {
    const world = activeItem();
    const wrong = { workItemId: ITEM, candidateAgentIds: [STRANGER.id] };
    expect(world.outcome(offer(wrong, { coordinatorEpoch: 9 }))).toBe('AUTH_STALE_COORDINATOR');
    expect(world.outcome(offer(wrong))).toBe('INVALID_STATE_TRANSITION');
    world.advance(300);
    expect(world.outcome(offer(wrong))).toBe('MEMBERSHIP_REQUIRED');
  });

  it('E-BUDGET_EXCEEDED: comes last in an authorization', () => {
    const world = staffedMission();
    const contract = { budget: { modelTokenLimit: 1_000_001 }, deadline: '2027-01-01T00:00:00Z' };
    expect(world.outcome(authorize({ contract }))).toBe('INVALID_COMMAND');
    expect(world.outcome(authorize({ contract: { budget: contract.budget } }))).toBe('BUDGET_EXCEEDED');
  });

  it('E-GROUP_NOT_FOUND: a stranger gets one answer for a Group that is there and one that is not', () => {
    const world = activeItem();
    const draft = (groupId: string) => ({
      kind: 'work.propose',
      actor: OTHER_HUMAN,
      groupId,
      membershipEpoch: 1,
      payload: { proposalId: 'urn:test:proposal:1', contract: contractOf() },
    });
    expect(world.decide(draft(GROUP))).toEqual(world.decide(draft('urn:test:group:none')));
    expect(world.outcome(byCoordinator('work.cancel', {}, { groupId: 'urn:test:group:none' }))).toBe('GROUP_NOT_FOUND');
  });
});
