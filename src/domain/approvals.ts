// Signed Approvals: what every answer of the MissionOwner must name, and how one is kept.
import type { Approval } from '../protocol/documents/approval.ts';
import { samePrincipal } from '../protocol/principals.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { ApprovalAggregate, Committed } from './aggregates.ts';
import type { Command } from './decider.ts';
import { checkOwner, groupOf, missionOf } from './roles.ts';
import type { View } from './view.ts';

/** The paths of free text in an Approval that stands in a payload as `approval`. */
export const APPROVAL_TEXTS = ['approval.comments', 'approval.conditions.*'];

/** An Approval as an Event holds it: its texts are commitments when it is folded. */
export type FoldedApproval = Omit<Approval, 'comments' | 'conditions' | 'signature'> & { comments: Committed };

export function setApproval(
  view: View,
  approval: FoldedApproval,
  signingHash: string,
  scope?: ApprovalAggregate['scope'],
): void {
  const { approvalId, kind, decision, missionId, groupId, workItemId, missionRevision } = approval;
  view.set('approval', approvalId, groupId, {
    approvalId,
    kind,
    decision,
    missionId,
    groupId,
    ...(workItemId !== undefined && { workItemId }),
    missionRevision,
    artifactHashes: approval.artifactHashes,
    acceptancePolicyVersion: approval.acceptancePolicyVersion,
    approver: approval.approver,
    comments: approval.comments,
    occurredAt: approval.occurredAt,
    signingHash,
    ...(scope && { scope }),
  });
}

/**
 * MWP-ADM-014b: who may approve is the MissionOwner, in the Command and in the document that it carries. Asked before what
 * the Approval says, and told as what it is: a genuine signature of somebody who may not give it.
 */
export function checkApprover(command: Command, approval: Approval, view: View): Refusal | undefined {
  const notOwner = checkOwner(command, view);
  if (notOwner || samePrincipal(approval.approver, command.actor)) return notOwner;
  return refuse('AUTH_FORBIDDEN', 'the Approval is of somebody who is not the MissionOwner');
}

/**
 * MT-5, MT-6: the owner answers one submission. Approver and state were checked before. Which revision and which Artifacts
 * are compare-and-set even without `expectedRevision` (MWP-EVT-007b).
 */
export function checkAnswer(
  command: Command,
  approval: Approval,
  decision: 'approved' | 'changes_requested',
  view: View,
): Refusal | undefined {
  const { mission, details } = missionOf(view, groupOf(command));
  if (approval.missionId !== mission.missionId || approval.groupId !== mission.groupId) {
    return refuse('INVALID_COMMAND', 'the Approval is of another Mission');
  }
  if (approval.kind !== 'mission_final' || approval.decision !== decision) {
    return refuse('INVALID_COMMAND', `the Approval must be of kind mission_final with decision ${decision}`);
  }
  const { submission } = details;
  if (!submission) throw new Error('a Mission awaiting approval has a submission');
  const revisions = { expectedRevision: approval.missionRevision, currentRevision: submission.missionRevision };
  if (approval.missionRevision !== submission.missionRevision) {
    return refuse('REVISION_CONFLICT', 'another revision of the Mission was submitted', revisions);
  }
  // A change request may leave the Artifacts out; if it names any, it names what was submitted (MWP-MSN-008b).
  const named = approval.artifactHashes;
  if ((named.length > 0 || decision === 'approved') && !sameSet(named, submission.artifactHashes)) {
    return refuse('REVISION_CONFLICT', 'other Artifacts were submitted', revisions);
  }
  if (view.get('approval', approval.approvalId)) {
    return refuse('INVALID_STATE_TRANSITION', 'the Approval id is already used');
  }
  return undefined;
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const members = new Set(a);
  return members.size === new Set(b).size && b.every((member) => members.has(member));
}
