import { describe, expect, it } from 'vitest';
import { missionAccountId, workItemAccountId, type ConversationAggregate } from '../../src/domain/aggregates.ts';
import { LIST_READ_MAXIMUM } from '../../src/domain/reads.ts';
import { WORK_ITEMS_MAXIMUM } from '../../src/domain/work-items.ts';
import { isRefusal, isRetryable } from '../../src/protocol/refusals.ts';
import {
  CODING,
  COORDINATOR,
  OTHER_HUMAN,
  byCoordinator,
  byOwner,
  MISSION,
  OWNER,
  WORKER,
} from '../support/fixtures.ts';
import {
  authorize,
  byAgent,
  cancelledItem,
  contractOf,
  failedItem,
  ITEM,
  itemOf,
  missionRevision,
  only,
  openItem,
  OTHER_ITEM,
  queuedItem,
  staffedMission,
  verifiedItem,
} from '../support/work-fixtures.ts';
import { artifactOf, CODE_HASH } from '../support/work-documents.ts';
import type { World } from '../support/world.ts';

const PROPOSAL = 'urn:test:proposal:1';
const members = { workItemId: ITEM, contract: contractOf() };
const criterion = { criterionId: 'more', description: 'More', evidenceRequired: ['policy_check'] };
const override = { emergencyOverride: { reason: 'The Coordinator is gone' } };

function another(overrides: object = {}, payload: object = {}) {
  return authorize({ contract: overrides, payload: { workItemId: OTHER_ITEM, ...payload } });
}

function proposed(payload: object = {}): World {
  const world = staffedMission();
  world.accept(byAgent(WORKER, 'work.propose', { proposalId: PROPOSAL, contract: contractOf(), ...payload }));
  return world;
}

describe('WT-2: work.authorize', () => {
  it('WT-2, MWP-MSN-015a: makes an open item with a Conversation of its own, its account and one Mission revision', () => {
    const world = staffedMission();
    const event = only(world.accept(authorize()));
    expect(event).toMatchObject({ kind: 'work.authorized', aggregateRevision: 1, workItemId: ITEM });
    const { workItem, details } = itemOf(world);
    expect(workItem).toMatchObject({
      state: 'open',
      revision: 1,
      exclusive: true,
      createdBy: COORDINATOR,
      authorizedBy: COORDINATOR,
    });
    expect(details).toMatchObject({ ownershipEpoch: 0, delegationDepth: 0 });
    const conversation = world.view.mustGet('conversation', workItem.conversationId);
    expect(conversation).toMatchObject({ type: 'work_item', primaryWorkItemId: ITEM, revision: 0 });
    expect(event.payload['conversation'] as ConversationAggregate<string>).toMatchObject({ title: 'Write the code' });
    expect(world.view.mustGet('budget_account', workItemAccountId(ITEM))).toMatchObject({
      parentAccountId: missionAccountId(MISSION),
      limit: { financialMicrounits: 10_000_000, modelTokens: 1_000 },
      state: 'open',
    });
    expect(missionRevision(world)).toBe(2);
  });

  it('MWP-MSN-015a: no two items share a Conversation; a long goal is cut to a title by code points', () => {
    const world = openItem();
    const event = only(world.accept(another({ goal: '🦊'.repeat(600) })));
    expect(itemOf(world, OTHER_ITEM).workItem.conversationId).not.toBe(itemOf(world).workItem.conversationId);
    expect(event.payload['conversation']).toMatchObject({ title: '🦊'.repeat(500) });
  });

  describe('MWP-MSN-019a: who may author work', () => {
    it('E-AUTH_STALE_COORDINATOR: the Coordinator cites its current epoch under a live lease', () => {
      const world = staffedMission();
      expect(world.outcome(byCoordinator('work.authorize', members, { coordinatorEpoch: undefined }))).toBe(
        'AUTH_STALE_COORDINATOR',
      );
      expect(world.outcome(byCoordinator('work.authorize', members, { coordinatorEpoch: 2 }))).toBe(
        'AUTH_STALE_COORDINATOR',
      );
      world.advance(86_399.999);
      expect(world.outcome(authorize())).toBe('accepted');
      world.advance(0.001);
      expect(world.outcome(authorize())).toBe('AUTH_STALE_COORDINATOR');
    });

    it('MWP-MSN-019b: a Worker is forbidden, with the current epoch, without, and with a Grant that nobody issued', () => {
      const world = staffedMission();
      expect(world.outcome(byAgent(WORKER, 'work.authorize', members))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byAgent(WORKER, 'work.authorize', members, { coordinatorEpoch: 1 }))).toBe('AUTH_FORBIDDEN');
      const granted = { ...members, delegationGrantId: 'urn:test:grant:1' };
      expect(world.outcome(byAgent(WORKER, 'work.authorize', granted))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byCoordinator('work.authorize', granted))).toBe('INVALID_COMMAND');
    });

    it('MWP-MSN-003b: the owner authors by emergency override only, and the policy log says so without the reason', () => {
      const world = staffedMission();
      expect(world.outcome(byOwner('work.authorize', members))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byCoordinator('work.authorize', { ...members, ...override }))).toBe('INVALID_COMMAND');
      const outsider = byOwner('work.authorize', { ...members, ...override }, { actor: OTHER_HUMAN });
      expect(world.outcome(outsider)).toBe('GROUP_NOT_FOUND');
      const decision = world.decide(byOwner('work.authorize', { ...members, ...override }));
      if (isRefusal(decision)) throw new Error(decision.message);
      expect(decision.policyLog).toMatchObject([{ draft: 0, details: { workItemId: ITEM } }]);
      expect(JSON.stringify(decision.policyLog)).not.toContain('gone');
      expect(decision.events[0]?.payload['emergencyOverride']).toEqual({ reason: 'The Coordinator is gone' });
    });

    it('MWP-MSN-003b: an override is bound by contract and budget like any authorization', () => {
      const world = staffedMission();
      const beyond = { ...members, ...override, contract: contractOf({ budget: { modelTokenLimit: 1_000_001 } }) };
      expect(world.outcome(byOwner('work.authorize', beyond))).toBe('BUDGET_EXCEEDED');
    });
  });

  it('refuses a used id', () => {
    expect(openItem().outcome(authorize())).toBe('INVALID_STATE_TRANSITION');
  });

  it.each([
    ['risky work without a human approval', { sideEffectRisk: 'destructive' }, 'WORK_CONTRACT_INCOMPLETE'],
    [
      'risky work that policy may approve',
      { sideEffectRisk: 'high_risk', executionApproval: 'policy_required' },
      'WORK_CONTRACT_INCOMPLETE',
    ],
    [
      'risky work with a human approval',
      { sideEffectRisk: 'high_risk', executionApproval: 'human_required' },
      'accepted',
    ],
    ['external work without approval', { sideEffectRisk: 'external' }, 'accepted'],
    ['a dependency on itself', { dependencyWorkItemIds: [ITEM] }, 'INVALID_COMMAND'],
    [
      'money finer than a millionth (T-13)',
      { budget: { currency: 'EUR', financialLimit: 0.0000001 } },
      'INVALID_COMMAND',
    ],
    ['an input from outside', { inputArtifacts: [CODE_HASH] }, 'accepted'],
  ])('answers %s', (_, contract, outcome) => {
    expect(staffedMission().outcome(authorize({ contract }))).toBe(outcome);
  });

  it('E-AUTH_FORBIDDEN: the operations of a contract are among the permissions of a Mission that has any', () => {
    const resource = { resource: 'urn:test:resource:shop', operations: ['read', 'payment.send'] };
    const contract = { allowedResources: [resource] };
    const world = staffedMission();
    expect(world.outcome(authorize({ contract }))).toBe('accepted');
    const { mission, details } = world.view.mustGet('mission', MISSION);
    const permit = (permissions: string[]) =>
      world.view.set('mission', MISSION, mission.groupId, { mission, details: { ...details, permissions } });
    permit(['read']);
    expect(world.outcome(authorize({ contract }))).toBe('AUTH_FORBIDDEN');
    permit(['read', 'payment.send']);
    expect(world.outcome(authorize({ contract }))).toBe('accepted');
  });

  it('MWP-WRK-028a: content that only another Mission published is no input; content of this one is', () => {
    const world = staffedMission();
    const artifact = { ...artifactOf('urn:elsewhere'), groupId: 'urn:g', missionId: 'urn:elsewhere', signingHash: 'x' };
    world.view.set('artifact', 'urn:elsewhere:1', 'urn:g', artifact as never);
    const contract = { inputArtifacts: [CODE_HASH] };
    expect(world.outcome(authorize({ contract }))).toBe('AUTH_FORBIDDEN');
    expect(verifiedItem().outcome(another({ inputArtifacts: [CODE_HASH] }))).toBe('accepted');
  });

  describe('parents and replacements', () => {
    it('counts depth from the parent and takes the budget from its account', () => {
      const world = openItem();
      world.accept(another({ budget: { modelTokenLimit: 400 } }, { parentWorkItemId: ITEM }));
      expect(itemOf(world, OTHER_ITEM).details).toMatchObject({ parentWorkItemId: ITEM, delegationDepth: 1 });
      expect(world.view.mustGet('budget_account', workItemAccountId(ITEM)).allocated.modelTokens).toBe(400);
      expect(world.view.mustGet('budget_account', missionAccountId(MISSION)).allocated.modelTokens).toBe(1_000);
    });

    it('E-RATE_LIMITED: refuses one level too many, without a time to wait for', () => {
      const world = openItem();
      const child = another({ budget: { modelTokenLimit: 1 } }, { parentWorkItemId: ITEM });
      world.policy.limits.delegationDepth = 1;
      expect(world.outcome(child)).toBe('accepted');
      world.policy.limits.delegationDepth = 0;
      expect(world.decide(child)).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 'delegation_depth' } });
      expect(world.decide(child)).not.toHaveProperty('retryAfterMs');
    });

    it.each([
      ['an unknown parent', staffedMission, { parentWorkItemId: ITEM }, 'INVALID_COMMAND'],
      ['a verified parent', verifiedItem, { parentWorkItemId: ITEM }, 'INVALID_STATE_TRANSITION'],
      ['a cancelled parent', cancelledItem, { parentWorkItemId: ITEM }, 'INVALID_STATE_TRANSITION'],
      ['the replacement of an unknown item', staffedMission, { replacesWorkItemId: ITEM }, 'INVALID_COMMAND'],
      ['the replacement of a failed item', failedItem, { replacesWorkItemId: ITEM }, 'accepted'],
      ['the replacement of a verified item', verifiedItem, { replacesWorkItemId: ITEM }, 'INVALID_STATE_TRANSITION'],
    ] as const)('answers %s', (_, given, payload, outcome) => {
      expect(given().outcome(another({ budget: { modelTokenLimit: 1 } }, payload))).toBe(outcome);
    });
  });

  describe('a proposal is taken up as it was made', () => {
    it('closes it and remembers who proposed', () => {
      const world = proposed();
      world.accept(authorize({ payload: { proposalId: PROPOSAL } }));
      expect(world.view.mustGet('work_proposal', PROPOSAL)).toMatchObject({ state: 'authorized', workItemId: ITEM });
      expect(itemOf(world).workItem).toMatchObject({ createdBy: WORKER, authorizedBy: COORDINATOR });
      expect(world.outcome(another({}, { proposalId: PROPOSAL }))).toBe('INVALID_STATE_TRANSITION');
    });

    it.each([
      ['another goal', { goal: 'Write other code' }],
      ['another budget', { budget: { modelTokenLimit: 999 } }],
      ['another criterion', { acceptanceCriteria: [criterion] }],
    ])('E-REVISION_CONFLICT: refuses %s', (_, contract) => {
      expect(proposed().outcome(authorize({ contract, payload: { proposalId: PROPOSAL } }))).toBe('REVISION_CONFLICT');
    });

    it('E-REVISION_CONFLICT: refuses another parent', () => {
      const world = openItem({}, proposed());
      expect(world.outcome(another({}, { proposalId: PROPOSAL, parentWorkItemId: ITEM }))).toBe('REVISION_CONFLICT');
      expect(world.outcome(another({}, { proposalId: PROPOSAL }))).toBe('accepted');
    });

    it('refuses an unknown proposal, and one whose text was erased meanwhile', () => {
      const world = proposed();
      expect(world.outcome(authorize({ payload: { proposalId: 'urn:test:proposal:none' } }))).toBe('INVALID_COMMAND');
      world.texts.clear();
      expect(world.outcome(authorize({ payload: { proposalId: PROPOSAL } }))).toBe('REVISION_CONFLICT');
    });
  });

  it('(c): compares expectedRevision with the Mission', () => {
    const world = queuedItem();
    expect(world.outcome({ ...another(), expectedRevision: 2 })).toBe('accepted');
    expect(world.outcome({ ...another(), expectedRevision: 1 })).toBe('REVISION_CONFLICT');
  });

  it('MWP-WRK-007a: adds work while other work is active, and in no Mission that ended', () => {
    const world = queuedItem();
    expect(world.outcome(another({ requiredCapabilities: [CODING] }))).toBe('accepted');
    world.accept(byOwner('mission.cancel', { reason: 'Enough' }));
    expect(world.outcome(another())).toBe('INVALID_STATE_TRANSITION');
    expect(world.view.mustGet('mission', MISSION).mission.missionOwner).toEqual(OWNER);
  });

  it('a Mission takes so many WorkItems as its end can look at, and refuses the next one at once and for good', () => {
    const world = staffedMission();
    const held = world.view.mustGet('mission', MISSION);
    const almost = { ...held, details: { ...held.details, workItemCount: WORK_ITEMS_MAXIMUM - 1 } };
    world.view.set('mission', MISSION, held.mission.groupId, almost);
    world.accept(authorize());
    expect(world.view.mustGet('mission', MISSION).details.workItemCount).toBe(WORK_ITEMS_MAXIMUM);
    const refusal = world.decide(another());
    if (!isRefusal(refusal)) throw new Error('accepted');
    expect(refusal).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 'work_items' } });
    expect(isRetryable(refusal)).toBe(false);
    // An ownership, an execution and a blocked lease for each, and the Coordinator's.
    expect(3 * WORK_ITEMS_MAXIMUM + 1).toBeLessThanOrEqual(LIST_READ_MAXIMUM);
  });

  it('counts WorkItems from the first', () => {
    const world = staffedMission();
    expect(world.view.mustGet('mission', MISSION).details.workItemCount).toBeUndefined();
    world.accept(authorize());
    world.accept(another());
    expect(world.view.mustGet('mission', MISSION).details.workItemCount).toBe(2);
  });
});
