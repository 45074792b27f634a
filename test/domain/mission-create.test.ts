import { describe, expect, it } from 'vitest';
import { COORDINATOR, GROUP, MISSION, OTHER_HUMAN, OWNER, missionCreate, seedAgent } from '../support/fixtures.ts';
import { World } from '../support/world.ts';
import type { Accepted } from '../../src/domain/decider.ts';

function world(): World {
  const fresh = new World();
  seedAgent(fresh, COORDINATOR);
  return fresh;
}

describe('MT-1, MWP-MSN-001: mission.create', () => {
  it('MWP-MSN-001c: makes one active Mission, one Group, one Group Conversation and two active Memberships', () => {
    const given = world();
    const [event] = given.accept(missionCreate());
    expect(event).toMatchObject({ kind: 'mission.created', groupId: GROUP, sequence: 1, aggregateRevision: 1 });
    expect(given.view.get('mission', MISSION)?.mission).toMatchObject({
      state: 'active',
      revision: 1,
      missionOwner: OWNER,
      coordinator: { agentId: COORDINATOR.id, coordinatorEpoch: 1 },
    });
    expect(given.view.all().filter(({ kind }) => kind === 'group' || kind === 'conversation')).toHaveLength(2);
    expect(given.view.all().filter(({ kind }) => kind === 'membership')).toHaveLength(2);
  });

  it('keeps no free text in the state, only commitments', () => {
    const given = world();
    given.accept(missionCreate());
    expect(JSON.stringify(given.view.all())).not.toContain('Ship the release');
  });

  it('adds its admission to the policy log, without any text', () => {
    const decision = world().decide(missionCreate()) as Accepted;
    expect(decision.policyLog).toMatchObject([
      { groupId: GROUP, decision: 'mission.create admitted', details: { missionOwner: OWNER, policyVersion: 1 } },
    ]);
    expect(JSON.stringify(decision.policyLog)).not.toContain('Ship');
  });

  it.each([
    ['a used Mission id', { payload: { groupId: 'urn:test:group:2' }, envelope: { groupId: 'urn:test:group:2' } }],
    ['a used Group id (MWP-FND-013b)', { payload: { missionId: 'urn:test:mission:2' } }],
  ])('refuses %s', (_, overrides) => {
    const given = world();
    given.accept(missionCreate());
    expect(given.outcome(missionCreate(overrides))).toBe('INVALID_STATE_TRANSITION');
  });

  it('refuses a Coordinator without a Card, and one without a session', () => {
    expect(new World().outcome(missionCreate())).toBe('INVALID_COMMAND');
    const given = world();
    expect(given.outcome(missionCreate({ payload: { coordinatorId: 'urn:test:agent:nobody' } }))).toBe(
      'INVALID_COMMAND',
    );
  });

  it('refuses a Coordinator whose Card is revoked or lapsed', () => {
    const given = world();
    const card = given.view.mustGet('agent_card', COORDINATOR.id);
    given.view.set('agent_card', COORDINATOR.id, '', { ...card, status: 'revoked' });
    expect(given.outcome(missionCreate())).toBe('AUTH_FORBIDDEN');
    given.view.set('agent_card', COORDINATOR.id, '', { ...card, validUntil: given.now });
    expect(given.outcome(missionCreate())).toBe('AUTH_FORBIDDEN');
  });

  it('refuses a deadline that is now, and takes one a millisecond later', () => {
    const given = world();
    expect(given.outcome(missionCreate({ payload: { deadline: given.now } }))).toBe('INVALID_COMMAND');
    expect(given.outcome(missionCreate({ payload: { deadline: '2026-11-29T12:00:00.001Z' } }))).toBe('accepted');
  });

  it('MWP-AUT-004a: refuses a Mission without budget, T-13: and money with seven decimals', () => {
    expect(world().outcome(missionCreate({ payload: { budget: {} } }))).toBe('INVALID_COMMAND');
    const tooFine = { currency: 'EUR', financialLimit: 0.0000001 };
    expect(world().outcome(missionCreate({ payload: { budget: tooFine } }))).toBe('INVALID_COMMAND');
    const fine = { currency: 'EUR', financialLimit: 0.000001 };
    expect(world().outcome(missionCreate({ payload: { budget: fine } }))).toBe('accepted');
  });

  it('lets only humans named by the policy own Missions, once it names any', () => {
    const given = world();
    given.policy.missionOwners = [OTHER_HUMAN.id];
    expect(given.outcome(missionCreate())).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(missionCreate({ envelope: { actor: OTHER_HUMAN } }))).toBe('accepted');
  });

  it('refuses a payload with an unknown member', () => {
    expect(world().outcome(missionCreate({ payload: { surprise: 1 } }))).toBe('INVALID_COMMAND');
  });

  it('MWP-EVT-007a: expects revision 0 of what does not exist yet', () => {
    expect(world().outcome(missionCreate({ envelope: { expectedRevision: 1 } }))).toBe('REVISION_CONFLICT');
    expect(world().outcome(missionCreate({ envelope: { expectedRevision: 0 } }))).toBe('accepted');
  });
});
