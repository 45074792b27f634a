import { describe, expect, it } from 'vitest';
import { RESULTS, submit, submittedMission, verifiedMission } from '../support/awaiting.ts';
import { byCoordinator, byOwner, GROUP, MISSION, OTHER_HUMAN } from '../support/fixtures.ts';
import { changeRequest, finalApproval, hashOf } from '../support/signed-documents.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';

const approve = (overrides: object = {}, envelope: object = {}) =>
  byOwner('mission.approve', { approval: finalApproval({ artifactHashes: RESULTS, ...overrides }) }, envelope);

describe('MT-6, MWP-FND-013e: mission.approve', () => {
  it('completes the Mission with exactly the submitted Artifacts, keeps the Approval and releases the Coordinator', () => {
    const given = submittedMission();
    const { leaseId } = given.view.mustGet('mission', MISSION).mission.coordinator;
    given.advance(60);
    const approval = finalApproval({ artifactHashes: [...RESULTS].reverse() });
    const [event, ...others] = given.accept(byOwner('mission.approve', { approval }));
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'mission.approved',
      groupId: GROUP,
      aggregateRevision: 1,
      payload: { missionId: MISSION, approval, approvalHash: canonicalHash(approval) },
    });
    expect(given.view.get('mission', MISSION)).toMatchObject({
      mission: { state: 'approved', revision: 1 },
      details: { approvedArtifactHashes: RESULTS, approvalId: approval.approvalId, endedAt: given.now },
    });
    expect(given.view.get('approval', approval.approvalId)).toMatchObject({
      kind: 'mission_final',
      decision: 'approved',
      signingHash: canonicalHash(approval),
    });
    expect(given.view.get('lease', leaseId)).toMatchObject({ state: 'released', closedAt: given.now });
    expect(given.view.get('budget_account', `mission ${MISSION}`)).toMatchObject({
      state: 'closed',
      closedAt: given.now,
    });
  });

  it('adds the Approval to the policy log, by ids and hashes', () => {
    const decision = submittedMission().decide(approve()) as Accepted;
    expect(decision.policyLog).toMatchObject([
      { groupId: GROUP, decision: 'mission.approved', details: { approvalId: 'urn:test:approval:1' }, draft: 0 },
    ]);
    expect(JSON.stringify(decision.policyLog)).not.toContain('Well done');
  });

  it('keeps no comment and no condition in the state', () => {
    const given = submittedMission();
    given.accept(approve());
    const state = JSON.stringify(given.view.all());
    expect(state).not.toContain('Well done');
    expect(state).not.toContain('Keep it running');
  });

  it('records a Coordinator lease that had lapsed as expired at its end', () => {
    const given = submittedMission();
    const { leaseId } = given.view.mustGet('mission', MISSION).mission.coordinator;
    const end = given.view.mustGet('lease', leaseId).expiresAt;
    given.now = end;
    given.accept(approve());
    expect(given.view.get('lease', leaseId)).toMatchObject({ state: 'expired', closedAt: end });
  });

  it('MWP-MSN-008b: refuses another revision or another Artifact set, and answers both revisions', () => {
    const given = submittedMission();
    expect(given.decide(approve({ missionRevision: 2 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: 2,
      currentRevision: 1,
    });
    for (const artifactHashes of [RESULTS.slice(1), [...RESULTS, hashOf('c')], [RESULTS[0], hashOf('c')]]) {
      expect(given.decide(approve({ artifactHashes }))).toMatchObject({
        code: 'REVISION_CONFLICT',
        currentRevision: 1,
      });
    }
  });

  it.each([
    ['another Mission', { missionId: 'urn:test:mission:2' }],
    ['another Group', { groupId: 'urn:test:group:2' }],
    ['a child Mission', { kind: 'child_mission' }],
    ['an execution', { kind: 'work_execution', workItemId: 'urn:test:work:1' }],
    ['a denial', { decision: 'denied' }],
    ['a change request', { decision: 'changes_requested' }],
  ])('refuses an Approval of %s', (_, overrides) => {
    expect(submittedMission().outcome(approve(overrides))).toBe('INVALID_COMMAND');
  });

  it('MWP-ADM-014b: another approver is told so before anything that the Approval says', () => {
    expect(submittedMission().outcome(approve({ approver: OTHER_HUMAN }))).toBe('AUTH_FORBIDDEN');
    const wrong = approve({ approver: OTHER_HUMAN, missionRevision: 9, decision: 'denied' });
    expect(submittedMission().outcome(wrong)).toBe('AUTH_FORBIDDEN');
    expect(verifiedMission().outcome(wrong)).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-FND-008a: refuses an Approval id that was used before', () => {
    const given = submittedMission();
    const request = changeRequest();
    const { missionRevision, comments: feedback } = request;
    given.accept(byOwner('mission.request_changes', { missionRevision, feedback, approval: request }));
    given.accept(submit());
    expect(given.outcome(approve({ missionRevision: 2 }))).toBe('INVALID_STATE_TRANSITION');
    expect(given.outcome(approve({ missionRevision: 2, approvalId: 'urn:test:approval:2' }))).toBe('accepted');
  });

  it('is for the MissionOwner, never for the Coordinator or another human', () => {
    const given = submittedMission();
    const payload = { approval: finalApproval({ artifactHashes: RESULTS }) };
    expect(given.outcome(byCoordinator('mission.approve', payload))).toBe('AUTH_FORBIDDEN');
    given.accept(byOwner('membership.change', { principal: OTHER_HUMAN, roles: ['reviewer'] }));
    expect(given.outcome(approve({ approver: OTHER_HUMAN }, { actor: OTHER_HUMAN }))).toBe('AUTH_FORBIDDEN');
  });

  it('refuses what is not awaiting approval, MWP-EVT-007b: so of two Approvals one succeeds', () => {
    expect(verifiedMission().outcome(approve())).toBe('INVALID_STATE_TRANSITION');
    const given = submittedMission();
    given.accept(approve());
    expect(given.outcome(approve({ approvalId: 'urn:test:approval:2' }))).toBe('INVALID_STATE_TRANSITION');
  });

  it('refuses an unsigned or misshapen Approval', () => {
    const { signature: _signature, ...unsigned } = finalApproval({ artifactHashes: RESULTS });
    expect(submittedMission().outcome(byOwner('mission.approve', { approval: unsigned }))).toBe(
      'SCHEMA_VALIDATION_FAILED',
    );
    expect(submittedMission().outcome(byOwner('mission.approve', {}))).toBe('INVALID_COMMAND');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Mission', () => {
    expect(submittedMission().outcome(approve({}, { expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(submittedMission().outcome(approve({}, { expectedRevision: 1 }))).toBe('accepted');
  });
});
