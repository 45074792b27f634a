import { describe, expect, it } from 'vitest';
import {
  activeMission,
  byCoordinator,
  byOwner,
  byWorker,
  COORDINATOR,
  GROUP,
  OTHER_HUMAN,
  OWNER,
  RIVAL,
  WORKER,
} from '../support/fixtures.ts';
import { ITEM, leaseIdOf, pendingOffer, seedItem } from '../support/seeded-work.ts';
import { activeItem, offer, queuedItem, start } from '../support/work-fixtures.ts';
import type { World } from '../support/world.ts';
import { membershipKey } from '../../src/domain/aggregates.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';

const REVOKED = 'ext.missionweaveprotocol.core.work_execution_lease_revoked';
const RESUME_SECONDS = 900;

const end = (payload: object = {}, envelope: object = {}) =>
  byCoordinator('membership.end', { principal: WORKER, reason: 'Thank you', ...payload }, envelope);

function joined(): World {
  const world = activeMission();
  for (const principal of [WORKER, RIVAL]) {
    world.accept(byOwner('membership.change', { principal, roles: ['worker', 'reviewer'] }));
  }
  return world;
}

describe('membership.end', () => {
  it('ends all roles at once under the next epoch, MWP-MSN-010b: and the member is stale', () => {
    const given = joined();
    const post = byWorker('message.post', {
      messageId: 'urn:test:message:1',
      conversationId: given.view.mustGet('group', GROUP).mainConversationId,
      content: 'Hello',
    });
    expect(given.outcome(post)).toBe('accepted');
    const [event, ...others] = given.accept(end());
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'membership.ended',
      groupId: GROUP,
      aggregateRevision: 2,
      payload: { principal: WORKER, membershipEpoch: 2, reason: 'Thank you' },
    });
    const membership = given.view.mustGet('membership', membershipKey(GROUP, WORKER));
    expect(membership).toMatchObject({ state: 'ended', membershipEpoch: 2 });
    for (const document of membership.documents) {
      expect(document).toMatchObject({ state: 'ended', endedAt: given.now, membershipEpoch: 2 });
      expect(checkDocument('membership', document)).toMatchObject({ valid: true });
    }
    for (const membershipEpoch of [1, 2]) {
      expect(given.outcome({ ...post, membershipEpoch })).toBe('MEMBERSHIP_STALE');
    }
    expect(JSON.stringify(given.view.all())).not.toContain('Thank you');
  });

  it('MWP-WRK-014b: an active item returns to queued, its lease revoked, its ownership kept to be resumed or offered', () => {
    const given = joined();
    seedItem(given);
    const [, event, ...others] = given.accept(end());
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: REVOKED,
      groupId: GROUP,
      workItemId: ITEM,
      aggregateRevision: 8,
      causedBy: 0,
      payload: {
        reason: 'membership_ended',
        status: 'queued',
        executionLeaseId: leaseIdOf(ITEM, 'execution'),
        closedLeases: [{ state: 'revoked', closureReason: 'membership_ended', closedAt: given.now }],
      },
    });
    expect(given.view.get('work_item', ITEM)?.workItem).toMatchObject({ state: 'queued', revision: 8 });
    expect(given.view.get('lease', leaseIdOf(ITEM, 'ownership'))).toMatchObject({
      state: 'active',
      expiresAt: addSeconds(given.now, RESUME_SECONDS),
    });
  });

  it('queued and blocked items keep their state and have no live owner any more', () => {
    const given = joined();
    seedItem(given, { state: 'queued' });
    seedItem(given, { workItemId: 'urn:test:work:2', state: 'blocked' });
    const events = given.accept(end());
    expect(events.slice(1).map(({ workItemId, payload }) => [workItemId, payload['status']])).toEqual([
      [ITEM, 'queued'],
      ['urn:test:work:2', 'blocked'],
    ]);
    expect(given.view.get('work_item', ITEM)?.workItem.state).toBe('queued');
    const blocked = given.view.mustGet('work_item', 'urn:test:work:2');
    expect(blocked.workItem.state).toBe('blocked');
    expect(blocked.details.blockedLeaseId).toBeUndefined();
    for (const leaseId of [
      leaseIdOf(ITEM, 'ownership'),
      leaseIdOf('urn:test:work:2', 'ownership'),
      leaseIdOf('urn:test:work:2', 'blocked'),
    ]) {
      expect(given.view.get('lease', leaseId)).toMatchObject({ state: 'revoked', closedAt: given.now });
    }
  });

  it('lets whoever is admitted again resume what was interrupted, and others be asked once the window has passed', () => {
    const given = activeItem();
    given.accept(end());
    const again = byOwner('membership.change', { principal: WORKER, roles: ['worker'] });
    given.accept(again);
    expect(given.outcome(start({}, { membershipEpoch: 3 }))).toBe('accepted');
    const toRival = offer({ candidateAgentIds: [RIVAL.id] });
    given.advance(RESUME_SECONDS - 0.001);
    expect(given.outcome(toRival)).toBe('INVALID_STATE_TRANSITION');
    given.advance(0.001);
    expect(given.outcome(start({}, { membershipEpoch: 3 }))).toBe('WORK_LEASE_EXPIRED');
    expect(given.outcome(toRival)).toBe('accepted');
  });

  it('what only waited in the queue can be offered to others at once', () => {
    const given = queuedItem();
    const toRival = offer({ candidateAgentIds: [RIVAL.id] });
    expect(given.outcome(toRival)).toBe('INVALID_STATE_TRANSITION');
    given.accept(end());
    expect(given.outcome(toRival)).toBe('accepted');
  });

  it('records a lease that had run out as expired at exactly its end, not a millisecond before', () => {
    for (const [seconds, state] of [
      [299.999, 'revoked'],
      [300, 'expired'],
    ] as const) {
      const given = joined();
      seedItem(given);
      given.advance(seconds);
      given.accept(end());
      expect(given.view.get('lease', leaseIdOf(ITEM, 'execution'))?.state).toBe(state);
    }
  });

  it('leaves finished work, delivered results and the work of others alone', () => {
    const given = joined();
    const states = ['submitted', 'verified', 'failed', 'cancelled'] as const;
    states.forEach((state, position) => seedItem(given, { workItemId: `urn:test:work:${position}`, state }));
    seedItem(given, { workItemId: 'urn:test:work:rival', owner: RIVAL });
    const elsewhere = { groupId: 'urn:test:group:2', missionId: 'urn:test:mission:2' };
    seedItem(given, { workItemId: 'urn:test:work:elsewhere', ...elsewhere });
    expect(given.accept(end())).toHaveLength(1);
  });

  it('withdraws the offers that wait for the member, and nobody else’s', () => {
    const given = joined();
    const offers = [pendingOffer(WORKER, given), pendingOffer(RIVAL, given)];
    seedItem(given, { state: 'offered', offers });
    seedItem(given, { workItemId: 'urn:test:work:2', state: 'offered', offers: offers.slice(1) });
    const [event, ...others] = given.accept(end());
    expect(others).toEqual([]);
    expect(event?.payload['withdrawnOffers']).toEqual([{ workItemId: ITEM, agentId: WORKER.id, workItemRevision: 8 }]);
    const { workItem } = given.view.mustGet('work_item', ITEM);
    expect(workItem).toMatchObject({ state: 'offered', revision: 8 });
    expect(workItem.offers?.map(({ status }) => status)).toEqual(['withdrawn', 'pending']);
    expect(given.view.get('work_item', 'urn:test:work:2')?.workItem.revision).toBe(7);
  });

  it('withdraws no offer at exactly its end, but a millisecond before', () => {
    for (const [seconds, withdrawn] of [
      [299.999, 1],
      [300, 0],
    ] as const) {
      const given = joined();
      seedItem(given, { state: 'offered', offers: [pendingOffer(WORKER, given)] });
      given.advance(seconds);
      expect(given.accept(end())[0]?.payload['withdrawnOffers']).toHaveLength(withdrawn);
    }
  });

  it('the Memberships of owner and current Coordinator do not end', () => {
    const given = joined();
    for (const principal of [OWNER, COORDINATOR]) {
      expect(given.outcome(end({ principal }))).toBe('AUTH_FORBIDDEN');
      expect(given.outcome(byOwner('membership.end', { principal }))).toBe('AUTH_FORBIDDEN');
    }
  });

  it('refuses who is no member, MWP-EVT-007b: or no longer; of two ends one succeeds', () => {
    const given = joined();
    expect(given.outcome(end({ principal: OTHER_HUMAN }))).toBe('INVALID_STATE_TRANSITION');
    given.accept(end());
    expect(given.outcome(end())).toBe('INVALID_STATE_TRANSITION');
  });

  it('ends a human member too, one that shares its id with nothing that is owned', () => {
    const given = joined();
    given.accept(byOwner('membership.change', { principal: OTHER_HUMAN, roles: ['observer'] }));
    expect(given.accept(end({ principal: OTHER_HUMAN, reason: null }))).toHaveLength(1);
  });

  it('is for the MissionOwner, and for the Coordinator under its epoch and a live lease', () => {
    const given = joined();
    expect(given.outcome(byOwner('membership.end', { principal: WORKER }))).toBe('accepted');
    const byMember = byWorker('membership.end', { principal: RIVAL }, { coordinatorEpoch: 1 });
    expect(given.outcome(byMember)).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(end({}, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
    given.advance(86_399.999);
    expect(given.outcome(end())).toBe('accepted');
    given.advance(0.001);
    expect(given.outcome(end())).toBe('AUTH_STALE_COORDINATOR');
  });

  it('MWP-EVT-007a: compares expectedRevision with the epoch of the subject', () => {
    const given = joined();
    expect(given.outcome(end({}, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(end({}, { expectedRevision: 1 }))).toBe('accepted');
  });
});
