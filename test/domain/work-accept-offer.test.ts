import { describe, expect, it } from 'vitest';
import { membershipKey } from '../../src/domain/aggregates.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { byCoordinator, byOwner, CODING, GROUP, RIVAL, seedAgent, STRANGER, WORKER } from '../support/fixtures.ts';
import { seedItem } from '../support/seeded-work.ts';
import { contextPackage } from '../support/signed-documents.ts';
import {
  acceptOffer,
  activeItem,
  byAgent,
  contractOf,
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
  queueOther,
  start,
  submittedItem,
} from '../support/work-fixtures.ts';
import type { World } from '../support/world.ts';

const BOTH = { candidateAgentIds: [WORKER.id, RIVAL.id] };
const rival = (payload: object = {}) => byAgent(RIVAL, 'work.accept_offer', { workItemId: ITEM, ...payload });

/** An offer to a provisional member, which lasts a minute. */
function provisional(): World {
  const world = openItem();
  const provisionalExpiresAt = addSeconds(world.now, 60);
  join(world, STRANGER, { provisional: true, provisionalExpiresAt, contextPackage: contextPackage() });
  world.accept(offer({ candidateAgentIds: [STRANGER.id] }));
  return world;
}

describe('WT-4: work.accept_offer', () => {
  it('WT-4, MWP-IDN-003a, MWP-WRK-013a: queues the item with its owner, epoch, pins and an ownership lease with a start-by deadline', () => {
    const world = offeredItem();
    const event = only(world.accept(acceptOffer()));
    const end = addSeconds(world.now, 900);
    expect(event).toMatchObject({ kind: 'work.offer.accepted', aggregateRevision: 3, workItemId: ITEM });
    expect(event.payload).toMatchObject({
      workItemId: ITEM,
      assigneeId: WORKER.id,
      ownershipEpoch: 1,
      ownershipLeaseExpiresAt: end,
      agentCardVersion: 1,
      membershipEpoch: 1,
    });
    const { workItem, details } = itemOf(world);
    expect(workItem.state).toBe('queued');
    expect(workItem.owner).toMatchObject({ agentId: WORKER.id, ownershipEpoch: 1, capabilityPins: [CODING] });
    expect(details).toMatchObject({ ownershipEpoch: 1 });
    expect(leasesOf(world, 'ownership')).toMatchObject([
      { ownershipEpoch: 1, sessionEpoch: 1, expiresAt: end, startBy: end, state: 'active', renewalCount: 0 },
    ]);
    expect(missionRevision(world)).toBe(2);
  });

  it('E-WORK_OFFER_EXPIRED: an offer is good before its end and not at it', () => {
    const world = offeredItem();
    world.advance(299.999);
    expect(world.outcome(acceptOffer())).toBe('accepted');
    world.advance(0.001);
    expect(world.outcome(acceptOffer())).toBe('WORK_OFFER_EXPIRED');
    expect(itemOf(world).workItem).toMatchObject({ state: 'offered', revision: 2 });
  });

  describe('MWP-WRK-004c: one winner', () => {
    it('MWP-WRK-004c: the other learns that it lost, and its start is refused', () => {
      const world = offeredItem({ offer: BOTH });
      world.accept(acceptOffer());
      expect(itemOf(world).workItem.offers?.map(({ status }) => status)).toEqual(['accepted', 'lost_race']);
      expect(world.outcome(rival())).toBe('WORK_ALREADY_OWNED');
      const started = byAgent(RIVAL, 'work.start', { workItemId: ITEM, ownershipEpoch: 1 });
      expect(world.outcome(started)).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(acceptOffer())).toBe('INVALID_STATE_TRANSITION');
    });

    it.each([
      ['active', activeItem],
      ['submitted', submittedItem],
    ] as const)('E-WORK_ALREADY_OWNED: also once it is %s', (_, given) => {
      expect(given({ offer: BOTH }).outcome(rival())).toBe('WORK_ALREADY_OWNED');
    });

    it('once the winner has lapsed, only a new offer helps', () => {
      const world = queuedItem({ offer: BOTH });
      world.advance(900);
      expect(world.outcome(rival())).toBe('INVALID_STATE_TRANSITION');
      world.accept(offer());
      expect(world.outcome(rival())).toBe('WORK_OFFER_EXPIRED');
    });
  });

  it('E-AUTH_FORBIDDEN: who was never a candidate is told so', () => {
    expect(offeredItem().outcome(rival())).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-WRK-002b: refuses the contract version that was superseded, and an offer that is not the latest', () => {
    const world = offeredItem();
    expect(world.outcome(acceptOffer({ contractVersion: 1 }))).toBe('accepted');
    expect(world.outcome(acceptOffer({ contractVersion: 2 }))).toBe('REVISION_CONFLICT');
    world.accept(offer({ contract: contractOf({ contractVersion: 2 }) }));
    expect(world.decide(acceptOffer({ contractVersion: 1 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      currentRevision: 2,
    });
    expect(world.outcome(acceptOffer({ offerId: 'urn:test:offer:old' }))).toBe('WORK_OFFER_EXPIRED');
    expect(world.outcome(acceptOffer({ contractVersion: 2 }))).toBe('accepted');
  });

  describe('the worker as it is now', () => {
    it('must still have the worker role', () => {
      const world = offeredItem();
      world.accept(byCoordinator('membership.change', { principal: WORKER, roles: ['observer'], mode: 'replace' }));
      expect(world.outcome(acceptOffer({}, { membershipEpoch: 2 }))).toBe('AUTH_FORBIDDEN');
    });

    it('MWP-IDN-003a: must still have a Card in force with the capabilities, and pins its current version', () => {
      const world = offeredItem();
      const card = world.view.mustGet('agent_card', WORKER.id);
      const withCard = (changes: object) => world.view.set('agent_card', WORKER.id, '', { ...card, ...changes });
      withCard({ capabilities: [{ ...CODING, version: '1.0.0' }] });
      expect(world.outcome(acceptOffer())).toBe('INVALID_COMMAND');
      withCard({ validUntil: world.now });
      expect(world.outcome(acceptOffer())).toBe('AUTH_FORBIDDEN');
      withCard({ cardVersion: 2, capabilities: [{ ...CODING, version: '1.9.0' }] });
      world.accept(acceptOffer());
      expect(itemOf(world).workItem.owner).toMatchObject({
        agentCardVersion: 2,
        capabilityPins: [{ ...CODING, version: '1.9.0' }],
      });
    });
  });

  describe('(f): limits over all Groups', () => {
    const elsewhere = (world: World, state: 'queued' | 'active', workItemId: string) =>
      seedItem(world, { workItemId, state, groupId: 'urn:test:group:9', missionId: 'urn:test:mission:9' });

    it('E-RATE_LIMITED: queued items, one less than the limit at most', () => {
      const world = offeredItem();
      world.policy.limits.queuedWorkItems = 2;
      elsewhere(world, 'queued', 'urn:test:work:8');
      expect(world.outcome(acceptOffer())).toBe('accepted');
      elsewhere(world, 'queued', 'urn:test:work:9');
      expect(world.decide(acceptOffer())).toMatchObject({
        code: 'RATE_LIMITED',
        details: { limit: 'queued_work_items' },
      });
    });

    it('E-RATE_LIMITED, MWP-WRK-011a: active items up to the policy and to what the Card promises', () => {
      const world = offeredItem();
      elsewhere(world, 'active', 'urn:test:work:7');
      elsewhere(world, 'active', 'urn:test:work:8');
      seedAgent(world, WORKER, [CODING], 2);
      expect(world.outcome(acceptOffer())).toBe('accepted');
      seedAgent(world, WORKER, [CODING], 1);
      expect(world.decide(acceptOffer())).toMatchObject({
        code: 'RATE_LIMITED',
        details: { limit: 'active_work_items' },
      });
      seedAgent(world, WORKER, [CODING], 9);
      world.policy.limits.activeWorkItems = 1;
      expect(world.outcome(acceptOffer())).toBe('RATE_LIMITED');
    });
  });

  describe('(e): the ownership lease', () => {
    it('ends at the policy maximum and at the deadline of the contract, whichever comes first', () => {
      const world = offeredItem();
      world.policy.leases.ownershipMaximum = 120;
      world.accept(acceptOffer({ ownershipLeaseSeconds: 3_600 }));
      expect(leasesOf(world, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 120));
      const soon = offeredItem({ contract: { deadline: addSeconds(world.now, 400) } });
      soon.accept(acceptOffer());
      expect(leasesOf(soon, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 400));
    });

    it('MWP-WRK-013a: takes a start-by deadline that is still to come, at most the end of ownership', () => {
      const world = offeredItem();
      expect(world.outcome(acceptOffer({ startBy: world.now }))).toBe('INVALID_COMMAND');
      world.accept(acceptOffer({ startBy: addSeconds(world.now, 5_000) }));
      expect(leasesOf(world, 'ownership')[0]?.startBy).toBe(addSeconds(world.now, 900));
    });
  });

  it('MWP-WRK-012a: stores the estimate of five members', () => {
    const world = offeredItem();
    const scheduleEstimate = {
      estimatedStart: '2026-11-29T13:00:00Z',
      estimatedCompletion: '2026-11-29T14:00:00Z',
      confidence: 0.8,
      capacityStatus: 'available',
      lastCalculatedAt: '2026-11-29T12:00:00Z',
    };
    world.accept(acceptOffer({ scheduleEstimate }));
    expect(itemOf(world).workItem.scheduleEstimate).toEqual(scheduleEstimate);
    const { confidence: _gone, ...rest } = scheduleEstimate;
    expect(offeredItem().outcome(acceptOffer({ scheduleEstimate: rest }))).toBe('INVALID_COMMAND');
  });

  describe('MWP-MSN-011: a provisional Membership', () => {
    const accept = (epoch = 1) =>
      byAgent(STRANGER, 'work.accept_offer', { workItemId: ITEM }, { membershipEpoch: epoch });

    it('MWP-MSN-011: becomes active first, under the next epoch, which the member is told', () => {
      const world = provisional();
      const decision = world.decide(accept());
      expect(decision).toMatchObject({ primary: 1 });
      const events = world.accept(accept());
      expect(events.map(({ kind }) => kind)).toEqual(['membership.changed', 'work.offer.accepted']);
      expect(events[0]).toMatchObject({ aggregateRevision: 2, payload: { principal: STRANGER, membershipEpoch: 2 } });
      expect(events[1]?.payload).toMatchObject({ membershipEpoch: 2 });
      const membership = world.view.mustGet('membership', membershipKey(GROUP, STRANGER));
      expect(membership).toMatchObject({ state: 'active', membershipEpoch: 2 });
      expect(membership).not.toHaveProperty('provisionalExpiresAt');
      const started = { workItemId: ITEM, ownershipEpoch: 1 };
      expect(world.outcome(byAgent(STRANGER, 'work.start', started))).toBe('MEMBERSHIP_STALE');
      expect(world.outcome(byAgent(STRANGER, 'work.start', started, { membershipEpoch: 2 }))).toBe('accepted');
    });

    it('learns nothing of an item that was not offered to it, not even that it is there', () => {
      const world = queueOther(provisional());
      const unknown = world.decide(byAgent(STRANGER, 'work.accept_offer', { workItemId: 'urn:test:work:none' }));
      expect(world.decide(byAgent(STRANGER, 'work.accept_offer', { workItemId: OTHER_ITEM }))).toEqual(unknown);
      expect(unknown).toMatchObject({ code: 'INVALID_COMMAND' });
    });

    it('E-MEMBERSHIP_STALE: is too late at its end', () => {
      const world = provisional();
      world.advance(59.999);
      expect(world.outcome(accept())).toBe('accepted');
      world.advance(0.001);
      expect(world.outcome(accept())).toBe('MEMBERSHIP_STALE');
    });
  });

  it('refuses an unknown item, a stale session and an ended Mission', () => {
    const world = offeredItem();
    expect(world.outcome(acceptOffer({ workItemId: 'urn:test:work:none' }))).toBe('INVALID_COMMAND');
    expect(world.outcome(acceptOffer({}, { sessionEpoch: 2 }))).toBe('AUTH_STALE_SESSION');
    expect(world.outcome(acceptOffer({}, { expectedRevision: 2 }))).toBe('accepted');
    expect(world.outcome(acceptOffer({}, { expectedRevision: 1 }))).toBe('REVISION_CONFLICT');
    world.accept(byOwner('mission.cancel', { reason: 'Enough' }));
    expect(world.outcome(acceptOffer())).toBe('INVALID_STATE_TRANSITION');
    expect(world.outcome(start())).toBe('INVALID_STATE_TRANSITION');
  });
});
