import { describe, expect, it } from 'vitest';
import { RESULTS, submit, submittedMission, verifiedMission } from '../support/awaiting.ts';
import { byCoordinator, byOwner, GROUP, MISSION, OTHER_HUMAN } from '../support/fixtures.ts';
import { changeRequest, hashOf } from '../support/signed-documents.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';

function payloadOf(overrides: object = {}) {
  const approval = changeRequest(overrides);
  return { missionRevision: approval.missionRevision, feedback: approval.comments, approval };
}

const request = (overrides: object = {}, envelope: object = {}) =>
  byOwner('mission.request_changes', payloadOf(overrides), envelope);

describe('MT-5: mission.request_changes', () => {
  it('MWP-MSN-008c: returns the Mission to work one revision on, and the submission stays readable', () => {
    const given = submittedMission();
    const approval = changeRequest();
    const [event, ...others] = given.accept(request());
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'mission.changes_requested',
      groupId: GROUP,
      aggregateRevision: 2,
      payload: {
        missionId: MISSION,
        feedback: 'Add a manual',
        newRevision: 2,
        approval,
        approvalHash: canonicalHash(approval),
      },
    });
    const { mission, details } = given.view.mustGet('mission', MISSION);
    expect(mission).toMatchObject({ state: 'active', revision: 2 });
    expect(details.submission).toBeUndefined();
    expect(details.submissions).toMatchObject([{ missionRevision: 1, artifactHashes: RESULTS }]);
    expect(given.view.get('approval', approval.approvalId)?.decision).toBe('changes_requested');
    given.accept(submit());
    expect(given.view.get('mission', MISSION)?.details.submissions).toHaveLength(2);
  });

  it('adds the request to the policy log without its text, and keeps no text in the state', () => {
    const given = submittedMission();
    const decision = given.decide(request()) as Accepted;
    expect(decision.policyLog).toMatchObject([{ decision: 'mission.changes_requested', draft: 0 }]);
    given.accept(request());
    expect(JSON.stringify([decision.policyLog, given.view.all()])).not.toContain('Add a manual');
  });

  it('MWP-MSN-008b: refuses another revision or another Artifact set; it may name none, or the submitted ones', () => {
    const given = submittedMission();
    expect(given.decide(request({ missionRevision: 2 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: 2,
      currentRevision: 1,
    });
    expect(given.outcome(request({ artifactHashes: [hashOf('c')] }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(request({ artifactHashes: RESULTS.slice(1) }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(request({ artifactHashes: RESULTS }))).toBe('accepted');
  });

  it('refuses a Command that says something else than the signed request in it', () => {
    const given = submittedMission();
    const other = (overrides: object) => byOwner('mission.request_changes', { ...payloadOf(), ...overrides });
    expect(given.outcome(other({ feedback: 'Something else' }))).toBe('INVALID_COMMAND');
    expect(given.outcome(other({ missionRevision: 2 }))).toBe('INVALID_COMMAND');
    expect(given.outcome(request({ decision: 'denied' }))).toBe('INVALID_COMMAND');
    expect(given.outcome(request({ missionId: 'urn:test:mission:2' }))).toBe('INVALID_COMMAND');
  });

  it('MWP-ADM-014b: a change request of another approver is told so before anything that it says', () => {
    const given = submittedMission();
    expect(given.outcome(request({ approver: OTHER_HUMAN }))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(request({ approver: OTHER_HUMAN, decision: 'denied' }))).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-MSN-008b: refuses a request without the signed document, or with an unsigned one', () => {
    const given = submittedMission();
    const { approval, ...unaccompanied } = payloadOf();
    expect(given.outcome(byOwner('mission.request_changes', unaccompanied))).toBe('INVALID_COMMAND');
    const { signature: _signature, ...unsigned } = approval;
    const command = byOwner('mission.request_changes', { ...unaccompanied, approval: unsigned });
    expect(given.outcome(command)).toBe('SCHEMA_VALIDATION_FAILED');
  });

  it('MWP-FND-008a: refuses an Approval id that was used before', () => {
    const given = submittedMission();
    given.accept(request());
    given.accept(submit());
    expect(given.outcome(request({ missionRevision: 2 }))).toBe('INVALID_STATE_TRANSITION');
    expect(given.outcome(request({ missionRevision: 2, approvalId: 'urn:test:approval:2' }))).toBe('accepted');
  });

  it('is for the MissionOwner, and only while the Mission awaits approval', () => {
    const given = submittedMission();
    expect(given.outcome(byCoordinator('mission.request_changes', payloadOf()))).toBe('AUTH_FORBIDDEN');
    expect(verifiedMission().outcome(request())).toBe('INVALID_STATE_TRANSITION');
    given.accept(byOwner('membership.change', { principal: OTHER_HUMAN, roles: ['reviewer'] }));
    expect(given.outcome(request({ approver: OTHER_HUMAN }, { actor: OTHER_HUMAN }))).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Mission', () => {
    expect(submittedMission().outcome(request({}, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
    expect(submittedMission().outcome(request({}, { expectedRevision: 1 }))).toBe('accepted');
  });
});
