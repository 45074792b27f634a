import { describe, expect, it } from 'vitest';
import { missionAccountId, workItemAccountId } from '../../src/domain/aggregates.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { byCoordinator, byOwner, CODING, MISSION, RIVAL, STRANGER, WORKER } from '../support/fixtures.ts';
import {
  acceptOffer,
  activeItem,
  authorize,
  basisOf,
  blockedItem,
  byAgent,
  CHECKPOINT,
  cited,
  contractOf,
  failedItem,
  ITEM,
  itemOf,
  join,
  leasesOf,
  missionRevision,
  offer,
  offeredItem,
  only,
  openItem,
  OTHER_ITEM,
  queuedItem,
  start,
} from '../support/work-fixtures.ts';
import { contextPackage } from '../support/signed-documents.ts';
import type { World } from '../support/world.ts';

const BOTH = { candidateAgentIds: [WORKER.id, RIVAL.id] };
const statuses = (world: World) =>
  Object.fromEntries((itemOf(world).workItem.offers ?? []).map(({ agentId, status }) => [agentId, status]));
const revised = (overrides: object = {}) => ({ contract: contractOf({ contractVersion: 2, ...overrides }) });

describe('WT-3: work.offer', () => {
  it('WT-3: offers to each candidate with a pinned Card version and an end; nothing is reserved', () => {
    const world = openItem();
    const event = only(world.accept(offer(BOTH)));
    expect(event).toMatchObject({ kind: 'work.offer.created', aggregateRevision: 2, workItemId: ITEM });
    expect(event.payload).toMatchObject({ workItemId: ITEM, ...BOTH, offerExpiresAt: addSeconds(world.now, 300) });
    const { workItem, details } = itemOf(world);
    expect(workItem).toMatchObject({ state: 'offered', revision: 2, selectionBasis: basisOf() });
    expect(workItem.offers).toMatchObject([
      { agentId: WORKER.id, agentCardVersion: 1, status: 'pending', expiresAt: addSeconds(world.now, 300) },
      { agentId: RIVAL.id, status: 'pending' },
    ]);
    expect(workItem.owner).toBeUndefined();
    expect(details.ownershipEpoch).toBe(0);
    expect(missionRevision(world)).toBe(2);
  });

  it('shortens an offer to the policy and to the deadline of the contract', () => {
    const world = openItem();
    world.policy.leases.offerMaximum = 60;
    world.accept(offer({ offerExpiresInSeconds: 3_600 }));
    expect(itemOf(world).workItem.offers?.[0]?.expiresAt).toBe(addSeconds(world.now, 60));
    const soon = openItem({ contract: { deadline: addSeconds(world.now, 10) } });
    soon.accept(offer());
    expect(soon.view.mustGet('work_item', ITEM).workItem.offers?.[0]?.expiresAt).toBe(addSeconds(world.now, 10));
    soon.advance(9.999);
    expect(soon.outcome(offer())).toBe('accepted');
    soon.advance(0.001);
    expect(soon.outcome(offer())).toBe('INVALID_COMMAND');
  });

  it('MWP-WRK-004a: keeps earlier live offers with their own end; who is asked again has the new one only', () => {
    const world = offeredItem();
    world.advance(100);
    world.accept(offer({ candidateAgentIds: [RIVAL.id] }));
    const ends = itemOf(world).workItem.offers?.map(({ expiresAt }) => expiresAt);
    expect(ends).toEqual([addSeconds(world.now, 200), addSeconds(world.now, 300)]);
    const former = itemOf(world).workItem.offers?.[0]?.offerId;
    world.accept(offer());
    expect(itemOf(world).workItem.offers).toHaveLength(2);
    expect(world.outcome(acceptOffer({ offerId: former }))).toBe('WORK_OFFER_EXPIRED');
    expect(world.outcome(acceptOffer())).toBe('accepted');
  });

  it('WT-5: an offer that ran out is written down by whatever touches the offers next', () => {
    const world = offeredItem();
    world.advance(300);
    world.accept(offer({ candidateAgentIds: [RIVAL.id] }));
    expect(statuses(world)).toEqual({ [WORKER.id]: 'expired', [RIVAL.id]: 'pending' });
  });

  describe('candidates', () => {
    it('E-MEMBERSHIP_REQUIRED: must be members, provisional ones too until their end', () => {
      const world = openItem();
      const stranger = offer({ candidateAgentIds: [STRANGER.id] });
      expect(world.decide(stranger)).toMatchObject({ code: 'MEMBERSHIP_REQUIRED', details: { agentId: STRANGER.id } });
      const provisionalExpiresAt = addSeconds(world.now, 60);
      join(world, STRANGER, { provisional: true, provisionalExpiresAt, contextPackage: contextPackage() });
      expect(world.outcome(stranger)).toBe('accepted');
      world.advance(60);
      expect(world.outcome(stranger)).toBe('MEMBERSHIP_REQUIRED');
    });

    it('MWP-IDN-002, E-AUTH_FORBIDDEN: must have the worker role, whatever their Cards offer', () => {
      const world = openItem();
      join(world, STRANGER, { roles: ['observer', 'reviewer', 'work_delegate'] });
      expect(world.outcome(offer({ candidateAgentIds: [STRANGER.id] }))).toBe('AUTH_FORBIDDEN');
    });

    it('must have a Card in force that offers every capability at its minimum version', () => {
      const world = openItem();
      const card = world.view.mustGet('agent_card', WORKER.id);
      const withCard = (changes: object) => world.view.set('agent_card', WORKER.id, '', { ...card, ...changes });
      withCard({ capabilities: [{ ...CODING, version: '1.1.9' }] });
      expect(world.outcome(offer())).toBe('INVALID_COMMAND');
      withCard({ capabilities: [{ ...CODING, version: '1.3.0' }] });
      expect(world.outcome(offer())).toBe('accepted');
      withCard({ status: 'deprecated' });
      expect(world.outcome(offer())).toBe('AUTH_FORBIDDEN');
      withCard({ validUntil: world.now });
      expect(world.outcome(offer())).toBe('AUTH_FORBIDDEN');
      withCard({ validUntil: addSeconds(world.now, 0.001) });
      expect(world.outcome(offer())).toBe('accepted');
    });

    it('MWP-WRK-004b: a set above the configured bound is refused, live earlier candidates counted', () => {
      const world = openItem();
      world.policy.offerCandidatesMaximum = 1;
      expect(world.outcome(offer(BOTH))).toBe('INVALID_COMMAND');
      world.accept(offer());
      expect(world.outcome(offer({ candidateAgentIds: [RIVAL.id] }))).toBe('INVALID_COMMAND');
      world.advance(300);
      expect(world.outcome(offer({ candidateAgentIds: [RIVAL.id] }))).toBe('accepted');
    });

    it('are named once', () => {
      expect(openItem().outcome(offer({ candidateAgentIds: [WORKER.id, WORKER.id] }))).toBe('INVALID_COMMAND');
      expect(openItem().outcome(offer({ candidateAgentIds: [] }))).toBe('INVALID_COMMAND');
    });
  });

  describe('MWP-WRK-006: the basis of the choice', () => {
    it.each(Object.keys(basisOf()))('MWP-WRK-006: needs %s', (member) => {
      const { [member]: _gone, ...selectionBasis } = basisOf();
      expect(openItem().outcome(offer({ selectionBasis }))).toBe('INVALID_COMMAND');
    });

    it.each([
      ['a member for reasoning', { reasoning: 'private' }],
      ['capabilities of another contract', { requiredCapabilities: [{ id: 'software.review', version: '1.0.0' }] }],
      ['a match below the minimum', { verifiedMatches: [{ ...CODING, version: '1.0.0' }] }],
      ['candidates that are not eligible', { authorizationEligible: false }],
    ])('MWP-WRK-006: refuses %s', (_, overrides) => {
      expect(openItem().outcome(offer({ selectionBasis: basisOf(overrides) }))).toBe('INVALID_COMMAND');
    });
  });

  describe('MWP-WRK-019a: a live owner is safe, a lapsed one is fenced', () => {
    it.each([
      ['queued', queuedItem, 900],
      ['active', activeItem, 300],
      ['blocked', blockedItem, 900],
    ] as const)('MWP-WRK-019a: %s work can be offered again exactly when ownership ends', (state, given, length) => {
      const world = given();
      world.advance(length - 0.001);
      expect(world.outcome(offer({ candidateAgentIds: [RIVAL.id] }))).toBe('INVALID_STATE_TRANSITION');
      world.advance(0.001);
      expect(itemOf(world).workItem.state).toBe(state);
      world.accept(offer({ candidateAgentIds: [RIVAL.id] }));
      const { workItem, details } = itemOf(world);
      expect(workItem).toMatchObject({ state: 'offered' });
      expect(workItem.owner).toBeUndefined();
      expect(details.ownershipEpoch).toBe(2);
      for (const type of ['ownership', 'execution', 'blocked'] as const) {
        for (const lease of leasesOf(world, type)) expect(lease.state).not.toBe('active');
      }
    });

    it('MWP-WRK-014b: closes what ran out as expired, at its own end', () => {
      const world = activeItem();
      const end = addSeconds(world.now, 300);
      world.advance(1_000);
      world.accept(offer({ candidateAgentIds: [RIVAL.id] }));
      expect(leasesOf(world, 'execution')).toMatchObject([
        { state: 'expired', closedAt: end, closureReason: 'expired' },
      ]);
      expect(leasesOf(world, 'ownership')).toMatchObject([{ state: 'expired', closedAt: end }]);
    });

    it('MWP-WRK-019a: a missed start-by lets the Coordinator reassign before the lease ends', () => {
      const world = queuedItem({ accept: { startBy: '2026-11-29T12:01:00Z' } });
      world.advance(59.999);
      expect(world.outcome(offer({ candidateAgentIds: [RIVAL.id] }))).toBe('INVALID_STATE_TRANSITION');
      world.advance(0.001);
      expect(world.outcome(start())).toBe('WORK_LEASE_EXPIRED');
      world.accept(offer({ candidateAgentIds: [RIVAL.id] }));
      expect(leasesOf(world, 'ownership')).toMatchObject([{ state: 'revoked', closureReason: 'reassigned' }]);
    });

    it('MWP-WRK-019a, -019b: the new owner has a higher epoch and the checkpoint; the old one is stale', () => {
      const world = activeItem();
      world.accept(byAgent(WORKER, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT }));
      world.advance(900);
      world.accept(offer({ candidateAgentIds: [RIVAL.id] }));
      world.accept(byAgent(RIVAL, 'work.accept_offer', { workItemId: ITEM }));
      expect(itemOf(world).details.ownershipEpoch).toBe(3);
      expect(itemOf(world).details.latestCheckpointId).toBeDefined();
      expect(world.outcome(start())).toBe('WORK_STALE_OWNERSHIP');
    });

    it('MWP-WRK-003a: failed work leads on, fenced and without the reason of its failure', () => {
      const world = failedItem();
      world.accept(offer());
      const { workItem, details } = itemOf(world);
      expect(workItem.owner).toBeUndefined();
      expect(details).toMatchObject({ ownershipEpoch: 2 });
      expect(details).not.toHaveProperty('endReason');
    });
  });

  describe('MWP-WRK-002b: a corrected contract', () => {
    it('comes as an Event of its own, with the next version, and withdraws earlier offers', () => {
      const world = offeredItem({ offer: BOTH });
      const events = world.accept(offer({ candidateAgentIds: [RIVAL.id], ...revised({ goal: 'Write better code' }) }));
      expect(events.map(({ kind }) => kind)).toEqual(['work.contract.revised', 'work.offer.created']);
      expect(events.map(({ aggregateRevision }) => aggregateRevision)).toEqual([3, 4]);
      expect(events[1]?.payload['workItem']).toMatchObject({ contract: { goal: 'Write better code' }, revision: 4 });
      expect(itemOf(world).workItem).toMatchObject({ revision: 4, contract: { contractVersion: 2 } });
      expect(statuses(world)).toEqual({ [WORKER.id]: 'withdrawn', [RIVAL.id]: 'pending' });
      expect(world.outcome(acceptOffer())).toBe('WORK_OFFER_EXPIRED');
      expect(missionRevision(world)).toBe(2);
    });

    it('makes work.offer.created the primary Event', () => {
      const decision = offeredItem().decide(offer(revised()));
      if (isRefusal(decision)) throw new Error(decision.message);
      expect(decision.primary).toBe(1);
    });

    it.each([
      ['the same version', { contractVersion: 1 }, 'REVISION_CONFLICT'],
      ['a version too far', { contractVersion: 3 }, 'REVISION_CONFLICT'],
      ['an incomplete one', { goal: undefined }, 'WORK_CONTRACT_INCOMPLETE'],
      ['a dependency on itself', { dependencyWorkItemIds: [ITEM] }, 'INVALID_COMMAND'],
      ['a dependency elsewhere', { dependencyWorkItemIds: ['urn:test:work:none'] }, 'INVALID_COMMAND'],
      ['a budget beyond the Mission', { budget: { modelTokenLimit: 1_000_001 } }, 'BUDGET_EXCEEDED'],
      [
        'other capabilities than the basis names',
        { requiredCapabilities: [{ ...CODING, version: '1.0.0' }] },
        'INVALID_COMMAND',
      ],
      ['the next version', {}, 'accepted'],
    ])('answers %s', (_, overrides, outcome) => {
      const { contract } = JSON.parse(JSON.stringify(revised(overrides))) as { contract: object };
      expect(offeredItem().outcome(offer({ contract }))).toBe(outcome);
    });

    it('MWP-WRK-007b: refuses an edge that closes a loop, over any distance', () => {
      const world = openItem();
      world.accept(authorize({ payload: { workItemId: OTHER_ITEM }, contract: { dependencyWorkItemIds: [ITEM] } }));
      const third = 'urn:test:work:3';
      world.accept(authorize({ payload: { workItemId: third }, contract: { dependencyWorkItemIds: [OTHER_ITEM] } }));
      expect(world.outcome(offer(revised({ dependencyWorkItemIds: [third] })))).toBe('INVALID_COMMAND');
      expect(world.outcome(offer({ workItemId: third, ...revised({ dependencyWorkItemIds: [ITEM] }) }))).toBe(
        'accepted',
      );
    });

    it('MWP-AUT-004a: reserves anew: growth must fit the parent, and what is used stays covered', () => {
      const world = openItem();
      const limit = (modelTokenLimit: number) => offer(revised({ budget: { modelTokenLimit } }));
      expect(world.outcome(limit(1_000_000))).toBe('accepted');
      world.accept(
        authorize({ payload: { workItemId: OTHER_ITEM }, contract: { budget: { modelTokenLimit: 999_000 } } }),
      );
      expect(world.outcome(limit(1_001))).toBe('BUDGET_EXCEEDED');
      world.accept(limit(400));
      const mission = world.view.mustGet('budget_account', missionAccountId(MISSION));
      expect(mission.allocated).toMatchObject({ modelTokens: 999_400, financialMicrounits: 0 });
      expect(world.view.mustGet('budget_account', workItemAccountId(ITEM)).limit).toEqual({ modelTokens: 400 });
    });

    it('MWP-AUT-004a: refuses a limit below what was handed on', () => {
      const world = openItem();
      const child = {
        payload: { workItemId: OTHER_ITEM, parentWorkItemId: ITEM },
        contract: { budget: { modelTokenLimit: 400 } },
      };
      world.accept(authorize(child));
      const limit = (modelTokenLimit: number) => offer(revised({ budget: { modelTokenLimit } }));
      expect(world.outcome(limit(399))).toBe('BUDGET_EXCEEDED');
      expect(world.outcome(limit(400))).toBe('accepted');
    });

    it('MWP-AUT-004a: refuses a limit below what was used', () => {
      const world = activeItem();
      const usage = { ...cited(world), usageDelta: { modelTokens: 500 } };
      world.accept(byAgent(WORKER, 'ext.missionweaveprotocol.core.resource_usage_record', usage));
      world.advance(300);
      const limit = (modelTokenLimit: number) => offer(revised({ budget: { modelTokenLimit } }));
      expect(world.outcome(limit(499))).toBe('BUDGET_EXCEEDED');
      expect(world.outcome(limit(500))).toBe('accepted');
    });
  });

  describe('MWP-MSN-019a: who may offer', () => {
    it('MWP-EVT-002b: the Coordinator with its epoch, and nobody else', () => {
      const world = openItem();
      const members = { workItemId: ITEM, candidateAgentIds: [WORKER.id], selectionBasis: basisOf() };
      expect(world.outcome(byAgent(WORKER, 'work.offer', members))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(byAgent(WORKER, 'work.offer', { ...members, delegationGrantId: 'urn:g' }))).toBe(
        'AUTH_FORBIDDEN',
      );
      expect(world.outcome(offer({ delegationGrantId: 'urn:g' }))).toBe('INVALID_COMMAND');
      expect(world.outcome(offer({}, { coordinatorEpoch: undefined }))).toBe('AUTH_STALE_COORDINATOR');
    });

    it('MWP-MSN-003b: the owner by override, bound by all other rules, with an entry in the policy log', () => {
      const world = openItem();
      const emergencyOverride = { reason: 'Now' };
      const members = { workItemId: ITEM, candidateAgentIds: [WORKER.id], selectionBasis: basisOf() };
      expect(world.outcome(byOwner('work.offer', members))).toBe('AUTH_FORBIDDEN');
      const decision = world.decide(byOwner('work.offer', { ...members, emergencyOverride, ...revised() }));
      if (isRefusal(decision)) throw new Error(decision.message);
      expect(decision.policyLog).toMatchObject([{ draft: 1, details: { rule: 'MWP-MSN-003b' } }]);
      const stranger = { ...members, emergencyOverride, candidateAgentIds: [STRANGER.id] };
      expect(world.outcome(byOwner('work.offer', stranger))).toBe('MEMBERSHIP_REQUIRED');
    });
  });

  describe('a Context Package for the candidates (MWP-MSN-011)', () => {
    const withPackage = (overrides: object = {}) => offer({ contextPackage: contextPackage(overrides) });

    it('travels in the Event', () => {
      const world = openItem();
      const event = only(world.accept(withPackage({ workItemId: ITEM })));
      expect(event.payload['contextPackage']).toMatchObject({ summary: 'A secret summary' });
      expect(event.payload['contextPackageHash']).toMatch(/^sha256:/);
      expect(JSON.stringify(world.view.all())).not.toContain('secret');
    });

    it.each([
      ['one about another item', { workItemId: OTHER_ITEM }, 'INVALID_COMMAND'],
      ['one of another Group', { groupId: 'urn:test:group:9' }, 'INVALID_COMMAND'],
      ['one by somebody who is no member', { generatedBy: STRANGER }, 'AUTH_FORBIDDEN'],
      ['one without a summary', { summary: '' }, 'SCHEMA_VALIDATION_FAILED'],
    ])('answers %s', (_, overrides, outcome) => {
      expect(openItem().outcome(withPackage(overrides))).toBe(outcome);
    });
  });

  it('refuses an unknown item, and one while a child Mission works on it', () => {
    const world = openItem();
    expect(world.outcome(offer({ workItemId: OTHER_ITEM }))).toBe('INVALID_COMMAND');
    const { workItem, details } = itemOf(world);
    world.view.set('work_item', ITEM, workItem.groupId, { workItem, details: { ...details, childMissionId: MISSION } });
    expect(world.outcome(offer())).toBe('INVALID_STATE_TRANSITION');
  });

  it('MWP-WRK-003b: compares expectedRevision with the item', () => {
    expect(openItem().outcome(offer({}, { expectedRevision: 1 }))).toBe('accepted');
    expect(openItem().outcome(offer({}, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
    expect(openItem().outcome(byCoordinator('work.offer', { workItemId: ITEM }))).toBe('INVALID_COMMAND');
  });
});
