import { describe, expect, it } from 'vitest';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { byCoordinator, byOwner, MISSION, OTHER_HUMAN, WORKER } from '../support/fixtures.ts';
import { executionApprovalOf } from '../support/work-documents.ts';
import {
  activeItem,
  byAgent,
  ITEM,
  itemOf,
  missionRevision,
  offer,
  offeredItem,
  only,
  OTHER_ITEM,
  queuedItem,
  start,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const SHOP = 'urn:test:resource:shop';
const CONTRACT = {
  executionApproval: 'human_required',
  allowedResources: [{ resource: SHOP, operations: ['payment.send'] }],
};

interface Scope {
  ownershipEpoch?: number;
  operations?: string[];
  resources?: string[];
  budget?: object;
  expiresAt?: string;
  expiresInSeconds?: number;
}

function conditionsOf(scope: Required<Omit<Scope, 'expiresInSeconds'>>): string[] {
  return [
    ...scope.operations.map((operation) => `operation:${operation}`),
    ...scope.resources.map((resource) => `resource:${resource}`),
    `ownershipEpoch:${scope.ownershipEpoch}`,
    `expiresAt:${scope.expiresAt}`,
    `budgetHash:${canonicalHash(scope.budget)}`,
  ];
}

/** A grant whose Approval says what its payload says, but for what a spec changes in either. */
function grant(world: World, scope: Scope = {}, approval: object = {}, envelope: object = {}): CommandDraft {
  const whole = {
    ownershipEpoch: itemOf(world).details.ownershipEpoch,
    operations: ['payment.send'],
    resources: [SHOP],
    budget: { modelTokenLimit: 100 },
    expiresAt: addSeconds(world.now, 600),
    ...scope,
  };
  const { expiresInSeconds: _length, ...signed } = whole;
  const document = executionApprovalOf(ITEM, {
    missionRevision: missionRevision(world),
    conditions: conditionsOf(signed),
    ...approval,
  });
  return byOwner('approval.grant_execution', { workItemId: ITEM, approval: document, ...whole }, envelope);
}

const waiting = (contract: object = {}) => queuedItem({ contract: { ...CONTRACT, ...contract } });

describe('WT-6: approval.grant_execution', () => {
  it('WT-6: stands for the item and its Ownership Epoch; no execution begins and no revision moves', () => {
    const world = waiting();
    const before = itemOf(world).workItem;
    const event = only(world.accept(grant(world)));
    expect(event).toMatchObject({ kind: 'approval.execution.granted', aggregateRevision: 2, workItemId: ITEM });
    expect(itemOf(world).workItem).toEqual(before);
    expect(itemOf(world).details.executionApprovalIds).toEqual(['urn:test:approval:1']);
    expect(world.view.mustGet('approval', 'urn:test:approval:1')).toMatchObject({
      kind: 'work_execution',
      signingHash: event.payload['approvalHash'],
      scope: {
        ownershipEpoch: 1,
        operations: ['payment.send'],
        resources: [SHOP],
        budget: { modelTokens: 100 },
        expiresAt: addSeconds(world.now, 600),
      },
    });
    expect(missionRevision(world)).toBe(2);
    expect(JSON.stringify(world.view.all())).not.toContain('Go ahead');
  });

  it('is written into the policy log', () => {
    const world = waiting();
    expect(world.decide(grant(world))).toMatchObject({
      policyLog: [{ draft: 0, details: { approvalId: 'urn:test:approval:1', workItemId: ITEM } }],
    });
  });

  it('T-2, MWP-AUT-003a: dies with the Ownership Epoch', () => {
    const world = waiting();
    world.accept(grant(world));
    expect(world.outcome(start())).toBe('accepted');
    world.advance(900);
    world.accept(offer());
    world.accept(byAgent(WORKER, 'work.accept_offer', { workItemId: ITEM }));
    expect(itemOf(world).details.executionApprovalIds).toEqual([]);
    expect(world.outcome(start({ ownershipEpoch: 3 }))).toBe('APPROVAL_REQUIRED');
  });

  describe('MWP-AUT-003a: the conditions are what the payload states, no more and no less', () => {
    it.each([
      ['another operation', { conditions: ['operation:payment.other'] }],
      ['no condition', { conditions: [] }],
      ['free words', { conditions: ['carefully'] }],
    ])('refuses %s', (_, approval) => {
      const world = waiting();
      expect(world.outcome(grant(world, {}, approval))).toBe('INVALID_COMMAND');
    });

    it.each(['operation:', 'resource:', 'ownershipEpoch:', 'expiresAt:', 'budgetHash:'])(
      'refuses them without %s',
      (prefix) => {
        const world = waiting();
        const draft = grant(world);
        const { approval } = draft.payload as { approval: { conditions: string[] } };
        approval.conditions = approval.conditions.filter((condition) => !condition.startsWith(prefix));
        expect(world.outcome(draft)).toBe('INVALID_COMMAND');
      },
    );

    it('counts a length from the time of the Approval, and compares ends as instants', () => {
      const world = waiting();
      const draft = grant(world, { expiresAt: '2026-11-29T12:10:00.0Z' });
      const { expiresAt: _gone, ...payload } = draft.payload;
      expect(world.outcome(draft)).toBe('accepted');
      expect(world.outcome({ ...draft, payload: { ...payload, expiresInSeconds: 600 } })).toBe('accepted');
      expect(world.outcome({ ...draft, payload: { ...payload, expiresInSeconds: 601 } })).toBe('INVALID_COMMAND');
      expect(world.outcome({ ...draft, payload })).toBe('INVALID_COMMAND');
    });

    it('takes an empty budget as the reference sends it, and the sibling members only if they agree', () => {
      const world = waiting();
      expect(world.outcome(grant(world, { budget: {} }))).toBe('accepted');
      const draft = grant(world);
      const withMember = (members: object) => ({ ...draft, payload: { ...draft.payload, ...members } });
      expect(world.outcome(withMember({ approvalId: 'urn:test:approval:1', comments: 'Go ahead' }))).toBe('accepted');
      expect(world.outcome(withMember({ approvalId: 'urn:test:approval:2' }))).toBe('INVALID_COMMAND');
      expect(world.outcome(withMember({ comments: 'Other' }))).toBe('INVALID_COMMAND');
    });
  });

  describe('what the Approval is about', () => {
    it.each([
      ['another kind', { kind: 'mission_final', artifactHashes: [`sha256:${'a'.repeat(64)}`] }, 'INVALID_COMMAND'],
      ['a denial', { decision: 'denied' }, 'INVALID_COMMAND'],
      ['another item', { workItemId: OTHER_ITEM }, 'INVALID_COMMAND'],
      ['no item', { workItemId: undefined }, 'SCHEMA_VALIDATION_FAILED'],
      ['another Mission', { missionId: 'urn:test:mission:9' }, 'INVALID_COMMAND'],
      ['another Group', { groupId: 'urn:test:group:9' }, 'INVALID_COMMAND'],
      ['MWP-ADM-014b: another approver', { approver: OTHER_HUMAN, decision: 'denied' }, 'AUTH_FORBIDDEN'],
      ['an earlier revision of the Mission', { missionRevision: 1 }, 'REVISION_CONFLICT'],
      ['no signature', { signature: undefined }, 'SCHEMA_VALIDATION_FAILED'],
    ])('answers %s', (_, overrides, outcome) => {
      const world = waiting();
      const draft = grant(world, {}, overrides);
      expect(world.outcome(JSON.parse(JSON.stringify(draft)) as CommandDraft)).toBe(outcome);
    });

    it('takes each id once', () => {
      const world = waiting();
      world.accept(grant(world));
      expect(world.outcome(grant(world))).toBe('INVALID_STATE_TRANSITION');
      expect(world.outcome(grant(world, {}, { approvalId: 'urn:test:approval:2' }))).toBe('accepted');
    });
  });

  describe('an Approval widens nothing', () => {
    it('E-AUTH_FORBIDDEN: operations stay within the permissions of a Mission that has any', () => {
      const world = waiting();
      const { mission, details } = world.view.mustGet('mission', MISSION);
      const permit = (permissions: string[]) =>
        world.view.set('mission', MISSION, mission.groupId, { mission, details: { ...details, permissions } });
      permit(['read']);
      expect(world.outcome(grant(world))).toBe('AUTH_FORBIDDEN');
      permit(['payment.send']);
      expect(world.outcome(grant(world))).toBe('accepted');
    });

    it('E-AUTH_FORBIDDEN: resources stay within the contract', () => {
      const world = waiting();
      expect(world.outcome(grant(world, { resources: ['urn:test:resource:bank'] }))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(grant(world, { resources: [] }))).toBe('accepted');
      expect(world.outcome(grant(world, { operations: [] }))).toBe('INVALID_COMMAND');
    });

    it('E-BUDGET_EXCEEDED: the budget stays within the contract', () => {
      const world = waiting();
      expect(world.outcome(grant(world, { budget: { modelTokenLimit: 1_000 } }))).toBe('accepted');
      expect(world.outcome(grant(world, { budget: { modelTokenLimit: 1_001 } }))).toBe('BUDGET_EXCEEDED');
      expect(world.outcome(grant(world, { budget: { toolCallLimit: 1 } }))).toBe('BUDGET_EXCEEDED');
      expect(world.outcome(grant(world, { budget: { currency: 'USD', financialLimit: 1 } }))).toBe('INVALID_COMMAND');
    });

    it('ends after now and no later than the ownership lease', () => {
      const world = waiting();
      expect(world.outcome(grant(world, { expiresAt: addSeconds(world.now, 900) }))).toBe('accepted');
      expect(world.outcome(grant(world, { expiresAt: addSeconds(world.now, 900.001) }))).toBe('INVALID_COMMAND');
      expect(world.outcome(grant(world, { expiresAt: world.now }))).toBe('INVALID_COMMAND');
      expect(world.outcome(grant(world, { expiresAt: addSeconds(world.now, 0.001) }))).toBe('accepted');
    });
  });

  describe('who and when', () => {
    it('MWP-ADM-014b: the human MissionOwner alone may approve, no member else', () => {
      const world = waiting();
      const { payload } = grant(world);
      expect(world.outcome(byCoordinator('approval.grant_execution', payload))).toBe('AUTH_FORBIDDEN');
      world.accept(byCoordinator('membership.change', { principal: OTHER_HUMAN, roles: ['reviewer'] }));
      expect(world.outcome(grant(world, {}, {}, { actor: OTHER_HUMAN }))).toBe('AUTH_FORBIDDEN');
    });

    it('E-WORK_STALE_OWNERSHIP: for the current epoch of queued work that somebody owns', () => {
      const world = waiting();
      expect(world.outcome(grant(world, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
      const active = activeItem();
      expect(active.outcome(grant(active))).toBe('INVALID_STATE_TRANSITION');
      const offered = offeredItem();
      expect(offered.outcome(grant(offered, { ownershipEpoch: 1 }))).toBe('INVALID_STATE_TRANSITION');
      world.advance(900);
      world.accept(offer());
      expect(world.outcome(grant(world, { ownershipEpoch: 1 }))).toBe('WORK_STALE_OWNERSHIP');
    });

    it('(c): compares expectedRevision with the Mission', () => {
      const world = waiting();
      expect(world.outcome(grant(world, {}, {}, { expectedRevision: 2 }))).toBe('accepted');
      expect(world.outcome(grant(world, {}, {}, { expectedRevision: 3 }))).toBe('REVISION_CONFLICT');
    });
  });
});
