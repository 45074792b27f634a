import { describe, expect, it } from 'vitest';
import { submittedMission } from '../support/awaiting.ts';
import {
  activeMission,
  byCoordinator,
  byOwner,
  byWorker,
  GROUP,
  MISSION,
  OTHER_HUMAN,
  RIVAL,
  WORKER,
} from '../support/fixtures.ts';
import { leaseIdOf, pendingOffer, seedItem } from '../support/seeded-work.ts';
import type { CommandDraft } from '../support/world.ts';
import { workItemAccountId, type WorkItemState } from '../../src/domain/aggregates.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import type { Principal } from '../../src/protocol/principals.ts';

const JANITOR: Principal = { type: 'service', id: 'urn:test:service:janitor' };
const cancel = (envelope: object = {}) => byOwner('mission.cancel', { reason: 'No need any more' }, envelope);
const UNFINISHED: WorkItemState[] = ['open', 'offered', 'queued', 'active', 'blocked', 'submitted'];
const FINISHED: WorkItemState[] = ['verified', 'failed', 'cancelled'];
const itemOf = (state: WorkItemState) => `urn:test:work:${state}`;

describe('MT-7: mission.cancel', () => {
  it('ends the Mission without a further revision, and revokes the Coordinator lease', () => {
    const given = activeMission();
    const { leaseId } = given.view.mustGet('mission', MISSION).mission.coordinator;
    given.advance(60);
    const [event, ...others] = given.accept(cancel());
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'mission.cancelled',
      groupId: GROUP,
      aggregateRevision: 1,
      payload: { missionId: MISSION, reason: 'No need any more' },
    });
    expect(given.view.get('mission', MISSION)).toMatchObject({
      mission: { state: 'cancelled', revision: 1 },
      details: { endedAt: given.now, endReason: { commitment: expect.any(String) as string } },
    });
    expect(given.view.get('lease', leaseId)).toMatchObject({
      state: 'revoked',
      closedAt: given.now,
      closureReason: 'mission_cancelled',
    });
    expect(given.view.get('budget_account', `mission ${MISSION}`)?.state).toBe('closed');
    expect(JSON.stringify(given.view.all())).not.toContain('No need');
  });

  it('WT-18: cancels each unfinished WorkItem with an Event of its own, and no finished one', () => {
    const given = activeMission();
    for (const state of [...UNFINISHED, ...FINISHED]) seedItem(given, { workItemId: itemOf(state), state });
    const decision = given.decide(cancel()) as Accepted;
    const [, ...events] = given.accept(cancel());
    expect(decision.primary ?? 0).toBe(0);
    expect(events.map(({ workItemId }) => workItemId)).toEqual(UNFINISHED.map(itemOf).sort());
    for (const event of events) {
      expect(event).toMatchObject({
        kind: 'work.cancelled',
        groupId: GROUP,
        aggregateRevision: 8,
        causedBy: 0,
        payload: { reason: 'No need any more', missionRevisionBump: false },
      });
    }
    for (const state of UNFINISHED) {
      expect(given.view.get('work_item', itemOf(state))?.workItem).toMatchObject({ state: 'cancelled', revision: 8 });
      expect(given.view.get('budget_account', workItemAccountId(itemOf(state)))?.state).toBe('closed');
    }
    for (const state of FINISHED) {
      expect(given.view.get('work_item', itemOf(state))?.workItem).toMatchObject({ state, revision: 7 });
    }
    expect(given.view.get('mission', MISSION)?.mission.revision).toBe(1);
  });

  it('MWP-AUT-006, MWP-WRK-014b: revokes every lease and fences every owner', () => {
    const given = activeMission();
    given.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
    for (const state of UNFINISHED) seedItem(given, { workItemId: itemOf(state), state });
    given.accept(cancel());
    const leases = given.view.all().filter(({ kind }) => kind === 'lease');
    expect(leases.map(({ document }) => (document as { state: string }).state)).not.toContain('active');
    expect(given.view.get('lease', leaseIdOf(itemOf('active'), 'execution'))).toMatchObject({
      state: 'revoked',
      closureReason: 'mission_cancelled',
    });
    const { workItem, details } = given.view.mustGet('work_item', itemOf('active'));
    expect(workItem.owner).toBeUndefined();
    expect(details).toMatchObject({ ownershipEpoch: 2 });
    const start = byWorker('work.start', { workItemId: itemOf('queued'), ownershipEpoch: 1 });
    expect(given.outcome(start)).toBe('WORK_STALE_OWNERSHIP');
  });

  it('withdraws pending offers', () => {
    const given = activeMission();
    const offers = [pendingOffer(WORKER, given), { ...pendingOffer(RIVAL, given), status: 'declined' as const }];
    seedItem(given, { workItemId: itemOf('offered'), state: 'offered', offers });
    given.accept(cancel());
    const { workItem } = given.view.mustGet('work_item', itemOf('offered'));
    expect(workItem.offers?.map(({ status }) => status)).toEqual(['withdrawn', 'declined']);
  });

  it('records leases that ran out as expired at exactly their end, not a millisecond before', () => {
    for (const [seconds, state] of [
      [299.999, 'revoked'],
      [300, 'expired'],
    ] as const) {
      const given = activeMission();
      seedItem(given, { workItemId: itemOf('active') });
      given.advance(seconds);
      given.accept(cancel());
      expect(given.view.get('lease', leaseIdOf(itemOf('active'), 'execution'))?.state).toBe(state);
    }
  });

  it('also from awaiting_approval', () => {
    const given = submittedMission();
    given.accept(cancel());
    expect(given.view.get('mission', MISSION)?.mission.state).toBe('cancelled');
  });

  it('MWP-MSN-003a: is not for the Coordinator, nor for another human', () => {
    const given = activeMission();
    expect(given.outcome(byCoordinator('mission.cancel', { reason: 'Too hard' }))).toBe('AUTH_FORBIDDEN');
    given.accept(byOwner('membership.change', { principal: OTHER_HUMAN, roles: ['reviewer'] }));
    expect(given.outcome(cancel({ actor: OTHER_HUMAN }))).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-MSN-010c: is for a service that the policy names, and for no other', () => {
    const given = activeMission();
    const byService: CommandDraft = {
      kind: 'mission.cancel',
      actor: JANITOR,
      groupId: GROUP,
      payload: { reason: 'Policy' },
    };
    expect(given.outcome(byService)).toBe('AUTH_FORBIDDEN');
    given.policy.services = [{ serviceId: JANITOR.id, kinds: ['mission.cancel'], relay: false }];
    expect(given.outcome(byService)).toBe('accepted');
    expect(given.outcome({ ...byService, groupId: 'urn:test:group:none' })).toBe('GROUP_NOT_FOUND');
  });

  it('needs a reason', () => {
    expect(activeMission().outcome(byOwner('mission.cancel', {}))).toBe('INVALID_COMMAND');
    expect(activeMission().outcome(byOwner('mission.cancel', { reason: '' }))).toBe('INVALID_COMMAND');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Mission', () => {
    expect(activeMission().outcome(cancel({ expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(activeMission().outcome(cancel({ expectedRevision: 1 }))).toBe('accepted');
  });
});
