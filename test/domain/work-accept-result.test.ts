import { describe, expect, it } from 'vitest';
import { missionAccountId, workItemAccountId } from '../../src/domain/aggregates.ts';
import { byCoordinator, COORDINATOR, MISSION, OWNER, RIVAL, WORKER } from '../support/fixtures.ts';
import { artifactOf, evidenceOf, signatureOf, type Overriding } from '../support/work-documents.ts';
import {
  acceptResult,
  authorize,
  byAgent,
  cited,
  ITEM,
  itemOf,
  join,
  leasesOf,
  missionRevision,
  offer,
  only,
  OTHER_ITEM,
  publish,
  publishedItem,
  review,
  staffedMission,
  submit,
  submittedItem,
  verifiedItem,
} from '../support/work-fixtures.ts';
import type { World } from '../support/world.ts';

const withReview = (overrides: Overriding) => acceptResult({ evidence: [review(overrides)] });

/** The Coordinator did the work itself. */
function ownWork(): World {
  const world = staffedMission();
  world.accept(byCoordinator('membership.change', { principal: RIVAL, roles: ['reviewer'] }));
  join(world, COORDINATOR);
  const epochs = { membershipEpoch: 2 };
  const own = (kind: string, payload: object) => byAgent(COORDINATOR, kind, payload, epochs);
  world.accept({ ...authorize(), ...epochs });
  world.accept({ ...offer({ candidateAgentIds: [COORDINATOR.id] }), ...epochs });
  world.accept(own('work.accept_offer', { workItemId: ITEM }));
  world.accept(own('work.start', { workItemId: ITEM, ownershipEpoch: 1 }));
  const producer = { ...(artifactOf(ITEM)['producer'] as object), agentId: COORDINATOR.id };
  const artifact = artifactOf(ITEM, { producer, signature: signatureOf(COORDINATOR) });
  const { workItemId: _item, ...lease } = cited(world);
  world.accept(own('artifact.publish', { artifact, ...lease }));
  const evidence = [evidenceOf(ITEM, { generatedBy: COORDINATOR })];
  world.accept(own('work.submit', { ...cited(world), artifactIds: ['urn:test:artifact:1'], evidence }));
  return world;
}

describe('WT-12: work.accept_result', () => {
  it('WT-12: verifies for good, ends ownership, closes the account and bumps the Mission', () => {
    const world = submittedItem();
    const event = only(world.accept(acceptResult()));
    expect(event).toMatchObject({ kind: 'work.result.accepted', aggregateRevision: 7 });
    expect(itemOf(world).workItem).toMatchObject({ state: 'verified', owner: { agentId: WORKER.id } });
    expect(leasesOf(world, 'ownership')).toMatchObject([{ state: 'released', closureReason: 'verified' }]);
    expect(world.view.mustGet('budget_account', workItemAccountId(ITEM))).toMatchObject({
      state: 'closed',
      closedAt: world.now,
    });
    expect(missionRevision(world)).toBe(3);
  });

  it('(d): without a metering window the unused rest returns at once', () => {
    const world = submittedItem();
    world.policy.meteringWindowSeconds = 0;
    world.accept(acceptResult());
    expect(world.view.mustGet('budget_account', workItemAccountId(ITEM))).toMatchObject({
      state: 'released',
      limit: { modelTokens: 0 },
    });
    const mission = world.view.mustGet('budget_account', missionAccountId(MISSION));
    expect(mission.allocated).toMatchObject({ modelTokens: 0, financialMicrounits: 0 });
  });

  it.each(['failed', 'inconclusive'])('refuses a result on %s Evidence', (result) => {
    expect(submittedItem().outcome(withReview({ result }))).toBe('INVALID_COMMAND');
  });

  it('refuses Evidence about something else, by a stranger, or used before', () => {
    const world = submittedItem();
    expect(world.outcome(withReview({ workItemId: OTHER_ITEM }))).toBe('INVALID_COMMAND');
    expect(world.outcome(withReview({ criterionIds: ['other'] }))).toBe('INVALID_COMMAND');
    expect(world.outcome(withReview({ generatedBy: { type: 'human', id: 'urn:x:y' } }))).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(withReview({ evidenceId: 'urn:test:evidence:1' }))).toBe('INVALID_STATE_TRANSITION');
    expect(world.outcome(acceptResult({ evidence: [] }))).toBe('INVALID_COMMAND');
  });

  describe('MWP-WRK-025a: reviews that a criterion requires', () => {
    const requiring = (...evidenceRequired: string[]) => ({
      contract: { acceptanceCriteria: [{ criterionId: 'works', description: 'It works', evidenceRequired }] },
    });

    it('a human review is by a human', () => {
      const world = submittedItem(requiring('human_review'));
      const human = { type: 'human_review', generatedBy: OWNER };
      expect(world.outcome(withReview(human))).toBe('accepted');
      expect(world.outcome(withReview({ type: 'human_review', generatedBy: COORDINATOR }))).toBe('INVALID_COMMAND');
      expect(world.outcome(withReview({ type: 'policy_check' }))).toBe('INVALID_COMMAND');
    });

    it("a reviewer's assessment is by somebody else than the Worker", () => {
      const world = submittedItem(requiring('reviewer_assessment', 'deterministic_test'));
      expect(world.outcome(withReview({ generatedBy: RIVAL }))).toBe('accepted');
      expect(world.outcome(withReview({ generatedBy: WORKER }))).toBe('INVALID_COMMAND');
    });

    it('a review that came with the submission counts', () => {
      const world = publishedItem(requiring('human_review'));
      const human = evidenceOf(ITEM, { type: 'human_review', generatedBy: OWNER });
      world.accept(submit(world, { evidence: [human] }));
      expect(world.outcome(withReview({ type: 'policy_check' }))).toBe('accepted');
    });
  });

  describe('MWP-MSN-006b: the Coordinator is never the only reviewer of its own output', () => {
    const accept = (...pieces: object[]) => ({
      ...acceptResult({ evidence: pieces }),
      membershipEpoch: 2,
    });

    it('MWP-MSN-006b: its own Evidence is not enough, an independent review unlocks it', () => {
      const world = ownWork();
      expect(world.outcome(accept(review()))).toBe('AUTH_FORBIDDEN');
      const check = review({ type: 'policy_check', generatedBy: RIVAL });
      expect(world.outcome(accept(check))).toBe('AUTH_FORBIDDEN');
      expect(world.outcome(accept(review({ generatedBy: RIVAL })))).toBe('accepted');
      expect(world.outcome(accept(review({ type: 'human_review', generatedBy: OWNER })))).toBe('accepted');
    });
  });

  it('MWP-MSN-004b: only the Coordinator under its current epoch', () => {
    const world = submittedItem();
    expect(world.outcome(acceptResult({}, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
    const worker = byAgent(
      WORKER,
      'work.accept_result',
      { workItemId: ITEM, evidence: [review()] },
      { coordinatorEpoch: 1 },
    );
    expect(world.outcome(worker)).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(acceptResult({}, { expectedRevision: 6 }))).toBe('accepted');
    expect(world.outcome(acceptResult({}, { expectedRevision: 5 }))).toBe('REVISION_CONFLICT');
    expect(world.outcome(acceptResult({ workItemId: OTHER_ITEM }))).toBe('INVALID_COMMAND');
  });

  it('MWP-WRK-019b: accepts nothing twice, and a late Artifact leaves the verified item as it is', () => {
    const world = verifiedItem();
    expect(world.outcome(acceptResult())).toBe('INVALID_STATE_TRANSITION');
    expect(world.outcome(publish({ artifactId: 'urn:test:artifact:2' })(world))).toBe('INVALID_STATE_TRANSITION');
  });
});
