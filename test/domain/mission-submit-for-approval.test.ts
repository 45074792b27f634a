import { describe, expect, it } from 'vitest';
import { RESULTS, submit, submittedMission, verifiedMission } from '../support/awaiting.ts';
import { activeMission, byOwner, byWorker, GROUP, MISSION, WORKER } from '../support/fixtures.ts';
import { seedItem } from '../support/seeded-work.ts';
import { hashOf } from '../support/signed-documents.ts';

describe('MT-4: mission.submit_for_approval', () => {
  it('MWP-MSN-008b: names one revision and one Artifact set, sorted, and changes no revision', () => {
    const given = verifiedMission();
    const [event, ...others] = given.accept(submit([...RESULTS].reverse()));
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'mission.submitted_for_approval',
      groupId: GROUP,
      aggregateRevision: 1,
      payload: { missionId: MISSION, missionRevision: 1, artifactHashes: RESULTS },
    });
    const submission = { missionRevision: 1, artifactHashes: RESULTS, submittedAt: given.now };
    expect(given.view.get('mission', MISSION)).toMatchObject({
      mission: { state: 'awaiting_approval', revision: 1 },
      details: { submission, submissions: [submission] },
    });
  });

  it('takes an Artifact named twice as one', () => {
    const [event] = verifiedMission().accept(submit([RESULTS[0], RESULTS[0]]));
    expect(event?.payload['artifactHashes']).toEqual([RESULTS[0]]);
  });

  it('MWP-MSN-008a: refuses while a WorkItem is anything but verified or cancelled', () => {
    expect(activeMission().outcome(submit())).toBe('INVALID_STATE_TRANSITION');
    for (const state of ['open', 'offered', 'queued', 'active', 'blocked', 'submitted', 'failed'] as const) {
      const given = verifiedMission();
      seedItem(given, { workItemId: 'urn:test:work:2', state });
      expect(given.outcome(submit()), state).toBe('INVALID_STATE_TRANSITION');
    }
    const given = verifiedMission();
    seedItem(given, { workItemId: 'urn:test:work:2', state: 'cancelled' });
    expect(given.outcome(submit())).toBe('accepted');
  });

  it('MWP-MSN-008a: lets a failed WorkItem pass once a replacement is verified, over several attempts too', () => {
    const given = verifiedMission();
    const first = seedItem(given, { workItemId: 'urn:test:work:2', state: 'failed' });
    const second = seedItem(given, { workItemId: 'urn:test:work:3', state: 'failed', replacesWorkItemId: first });
    expect(given.outcome(submit())).toBe('INVALID_STATE_TRANSITION');
    seedItem(given, { workItemId: 'urn:test:work:4', state: 'verified', replacesWorkItemId: second });
    expect(given.outcome(submit())).toBe('accepted');
  });

  it('refuses Artifacts that no verified WorkItem of this Mission submitted', () => {
    const given = verifiedMission();
    seedItem(given, { workItemId: 'urn:test:work:2', state: 'cancelled', artifactHashes: [hashOf('d')] });
    const elsewhere = { groupId: 'urn:test:group:2', missionId: 'urn:test:mission:2' };
    seedItem(given, { workItemId: 'urn:test:work:9', state: 'verified', artifactHashes: [hashOf('e')], ...elsewhere });
    for (const digit of ['c', 'd', 'e']) {
      expect(given.outcome(submit([RESULTS[0], hashOf(digit)]))).toBe('INVALID_COMMAND');
    }
    expect(given.outcome(submit([RESULTS[1]]))).toBe('accepted');
  });

  it('refuses an empty set and what is no hash', () => {
    expect(verifiedMission().outcome(submit([]))).toBe('INVALID_COMMAND');
    expect(verifiedMission().outcome(submit(['sha256:abc']))).toBe('INVALID_COMMAND');
  });

  it('MWP-MSN-004b: is for the current Coordinator under a live lease', () => {
    const given = verifiedMission();
    given.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
    const payload = { artifactHashes: RESULTS };
    expect(given.outcome(byOwner('mission.submit_for_approval', payload))).toBe('AUTH_FORBIDDEN');
    const byAnother = byWorker('mission.submit_for_approval', payload, { coordinatorEpoch: 1 });
    expect(given.outcome(byAnother)).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(submit(RESULTS, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
    given.advance(86_399.999);
    expect(given.outcome(submit())).toBe('accepted');
    given.advance(0.001);
    expect(given.outcome(submit())).toBe('AUTH_STALE_COORDINATOR');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Mission, and answers both revisions', () => {
    const given = verifiedMission();
    const revisions = { expectedRevision: 2, currentRevision: 1 };
    expect(given.decide(submit(RESULTS, { expectedRevision: 2 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      ...revisions,
    });
    expect(given.outcome(submit(RESULTS, { expectedRevision: 1 }))).toBe('accepted');
  });

  it('refuses a second submission while the first waits', () => {
    expect(submittedMission().outcome(submit())).toBe('INVALID_STATE_TRANSITION');
  });
});
