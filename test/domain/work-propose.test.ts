import { describe, expect, it } from 'vitest';
import {
  activeMission,
  DEADLINE,
  GROUP,
  OWNER,
  byCoordinator,
  byOwner,
  STRANGER,
  WORKER,
} from '../support/fixtures.ts';
import {
  byAgent,
  contractOf,
  ITEM,
  missionRevision,
  only,
  openItem,
  staffedMission,
} from '../support/work-fixtures.ts';
import type { World } from '../support/world.ts';

const PROPOSAL = 'urn:test:proposal:1';

function propose(payload: object = {}, envelope: object = {}) {
  return byAgent(WORKER, 'work.propose', { proposalId: PROPOSAL, contract: contractOf(), ...payload }, envelope);
}

const accounts = (world: World) => world.view.all().filter(({ kind }) => kind === 'budget_account');

describe('WT-1: work.propose', () => {
  it('WT-1, MWP-MSN-022c: makes an open proposal, one more Mission revision, no WorkItem and no reservation', () => {
    const world = staffedMission();
    const before = accounts(world);
    const event = only(world.accept(propose()));
    expect(event).toMatchObject({ kind: 'work.proposed', aggregateRevision: 2 });
    expect(event.payload['proposal']).toMatchObject({ contract: { goal: 'Write the code' } });
    expect(world.view.mustGet('work_proposal', PROPOSAL)).toMatchObject({ state: 'open', proposedBy: WORKER });
    expect(missionRevision(world)).toBe(2);
    expect(world.view.all().filter(({ kind }) => kind === 'work_item')).toEqual([]);
    expect(accounts(world)).toEqual(before);
  });

  it('MWP-MSN-018: lets any active member propose, humans too, and nobody else', () => {
    const world = staffedMission();
    const payload = { proposalId: PROPOSAL, contract: contractOf() };
    expect(world.outcome(byOwner('work.propose', payload))).toBe('accepted');
    expect(world.outcome(byCoordinator('work.propose', payload))).toBe('accepted');
    expect(world.outcome(byAgent(STRANGER, 'work.propose', payload))).toBe('GROUP_NOT_FOUND');
  });

  it('keeps no text of the proposal in the state', () => {
    const world = staffedMission();
    world.accept(propose());
    expect(JSON.stringify(world.view.all())).not.toContain('Write the code');
  });

  it('refuses a used proposal id', () => {
    const world = staffedMission();
    world.accept(propose());
    expect(world.outcome(propose())).toBe('INVALID_STATE_TRANSITION');
    expect(world.outcome(propose({ proposalId: 'urn:test:proposal:2' }))).toBe('accepted');
  });

  it.each([
    ['an incomplete contract', { goal: undefined }, 'WORK_CONTRACT_INCOMPLETE'],
    ['a contract that fails its schema', { goal: 7 }, 'SCHEMA_VALIDATION_FAILED'],
    ['a deadline after that of the Mission', { deadline: '2026-12-31T00:00:00.001Z' }, 'INVALID_COMMAND'],
    ['the deadline of the Mission', { deadline: DEADLINE }, 'accepted'],
    ['a deadline that is now', { deadline: '2026-11-29T12:00:00.000Z' }, 'INVALID_COMMAND'],
    ['a budget beyond the Mission', { budget: { modelTokenLimit: 1_000_001 } }, 'BUDGET_EXCEEDED'],
    ['the whole budget of the Mission', { budget: { modelTokenLimit: 1_000_000 } }, 'accepted'],
    ['another currency', { budget: { currency: 'USD', financialLimit: 1 } }, 'INVALID_COMMAND'],
    ['an unknown dependency', { dependencyWorkItemIds: ['urn:test:work:none'] }, 'INVALID_COMMAND'],
  ])('answers %s', (_, overrides, outcome) => {
    const contract = JSON.parse(JSON.stringify(contractOf(overrides))) as object;
    expect(staffedMission().outcome(propose({ contract }))).toBe(outcome);
  });

  it('takes dependencyIds only if they are those of the contract, and a parent only of this Mission', () => {
    const world = openItem();
    const contract = contractOf({ dependencyWorkItemIds: [ITEM] });
    expect(world.outcome(propose({ contract, dependencyIds: [ITEM] }))).toBe('accepted');
    expect(world.outcome(propose({ contract, dependencyIds: [] }))).toBe('INVALID_COMMAND');
    expect(world.outcome(propose({ dependencyIds: [ITEM] }))).toBe('INVALID_COMMAND');
    expect(world.outcome(propose({ parentWorkItemId: ITEM }))).toBe('accepted');
    expect(world.outcome(propose({ parentWorkItemId: 'urn:test:work:none' }))).toBe('INVALID_COMMAND');
  });

  it('E-RATE_LIMITED: allows so many proposals a minute and says when the next one is due', () => {
    const world = staffedMission();
    world.policy.limits.proposalsPerMinute = 1;
    world.accept(propose());
    world.advance(20);
    const refused = world.decide(propose({ proposalId: 'urn:test:proposal:2' }));
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 40_000, details: { limit: 'proposal_rate' } });
    expect(world.outcome(byOwner('work.propose', { proposalId: PROPOSAL + '3', contract: contractOf() }))).toBe(
      'accepted',
    );
    world.advance(40);
    expect(world.outcome(propose({ proposalId: 'urn:test:proposal:2' }))).toBe('accepted');
  });

  it('(c): compares expectedRevision with the Mission', () => {
    const world = staffedMission();
    expect(world.outcome(propose({}, { expectedRevision: 1 }))).toBe('accepted');
    expect(world.outcome(propose({}, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
  });

  it('needs an active Mission', () => {
    const world = activeMission();
    world.accept({
      kind: 'mission.cancel',
      actor: OWNER,
      groupId: GROUP,
      membershipEpoch: 1,
      payload: { reason: 'x' },
    });
    expect(world.outcome(byCoordinator('work.propose', { proposalId: PROPOSAL, contract: contractOf() }))).toBe(
      'INVALID_STATE_TRANSITION',
    );
  });
});
