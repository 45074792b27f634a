// approval.grant_execution: the human MissionOwner lets the current owner of queued work begin something risky, within a
// stated scope and for a while (commands.md 1.31, WT-6, MWP-AUT-003a). The item stays queued (T-2).
import { z } from 'zod';
import type { Approval } from '../../protocol/documents/approval.ts';
import { budget, id, jsonObject, operation, timestamp, unique } from '../../protocol/documents/shapes.ts';
import { text, uniqueAtLeastOne } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import { checkApprover } from '../approvals.ts';
import type { CommandKind, PolicyEntryDraft, Request } from '../decider.ts';
import { checkScope, readScope } from '../execution-approvals.ts';
import { missionEvent, missionRevision } from '../missions.ts';
import { one } from '../reads.ts';
import { checkMissionActive, groupOf, missionOf, ownershipLease, workItemIn, workReads } from '../roles.ts';
import type { View } from '../view.ts';
import { embeddedId, epoch, optional, payload, seconds } from './shapes.ts';

const schema = payload({
  workItemId: id,
  ownershipEpoch: epoch,
  approval: jsonObject,
  approvalId: optional(id),
  operations: uniqueAtLeastOne(operation(160)),
  resources: optional(unique(id)),
  /** The reference sends an empty object for none. */
  budget: optional(z.union([budget, z.strictObject({})])),
  expiresInSeconds: optional(seconds),
  expiresAt: optional(timestamp),
  comments: optional(text(0, 10_000)),
});

export type ApprovalGrantExecutionPayload = z.infer<typeof schema>;
type Grant = Request<ApprovalGrantExecutionPayload>;

export const approvalGrantExecution: CommandKind<ApprovalGrantExecutionPayload> = {
  kind: 'approval.grant_execution',
  payload: schema,
  actors: ['human'],
  group: 'existing',
  revision: ({ command }, view) => missionRevision(command, view),

  documents: ({ approval }) => [{ path: 'approval', kind: 'approval', value: approval }],

  reads: ({ payload }) => [
    ...workReads(payload.workItemId),
    one('approval', embeddedId(payload.approval, 'approvalId')),
  ],

  decide(request, view, context) {
    const { command, payload } = request;
    const approval = payload.approval as unknown as Approval;
    const authority = checkApprover(command, approval, view) ?? checkMissionActive(command, view);
    if (authority) return authority;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const refusal = checkWaiting(item, payload.ownershipEpoch) ?? checkApproval(request, approval, view);
    if (refusal) return refusal;
    const scope = readScope(approval, payload, context);
    if (isRefusal(scope)) return scope;
    const mission = missionOf(view, groupOf(command));
    // Ownership that was closed (an ended Membership) covers no time at all.
    const ownershipEnd = ownershipLease(item, view)?.expiresAt ?? context.now;
    const beyond = checkScope(scope, payload, { item, mission, ownershipEnd }, context.now);
    if (beyond) return beyond;
    const { groupId, workItemId, conversationId } = item.workItem;
    const approvalHash = context.documentHashes.get('approval');
    const entry: PolicyEntryDraft = {
      groupId,
      decision: 'execution approved by the MissionOwner',
      details: { rule: 'MWP-AUT-003a', approvalId: approval.approvalId, workItemId, scope },
      draft: 0,
    };
    return {
      events: [
        {
          kind: 'approval.execution.granted',
          ...missionEvent(mission),
          workItemId,
          conversationId,
          payload: { workItemId, approval, approvalHash, scope },
        },
      ],
      policyLog: [entry],
    };
  },
};

function checkWaiting({ workItem, details }: WorkItemAggregate, ownershipEpoch: number): Refusal | undefined {
  const stale = refuse('WORK_STALE_OWNERSHIP', 'the Ownership Epoch is not the current one');
  if (ownershipEpoch < details.ownershipEpoch) return stale;
  if (workItem.state !== 'queued' || !workItem.owner) {
    return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${workItem.state}`);
  }
  return ownershipEpoch === details.ownershipEpoch ? undefined : stale;
}

/** Which revision of the Mission it is about is compare-and-set even without `expectedRevision` (MWP-EVT-007b). */
function checkApproval({ command, payload }: Grant, approval: Approval, view: View): Refusal | undefined {
  const { mission } = missionOf(view, groupOf(command));
  if (approval.kind !== 'work_execution' || approval.decision !== 'approved') {
    return refuse('INVALID_COMMAND', 'the Approval must be of kind work_execution with decision approved');
  }
  const sameScope =
    approval.missionId === mission.missionId &&
    approval.groupId === mission.groupId &&
    approval.workItemId === payload.workItemId;
  if (!sameScope) return refuse('INVALID_COMMAND', 'the Approval is about another WorkItem or Mission');
  const { approvalId = approval.approvalId, comments = approval.comments } = payload;
  if (approvalId !== approval.approvalId || comments !== approval.comments) {
    return refuse('INVALID_COMMAND', 'approvalId or comments differ from those of the Approval');
  }
  if (view.get('approval', approvalId)) {
    return refuse('INVALID_STATE_TRANSITION', 'the Approval id is already used');
  }
  if (approval.missionRevision === mission.revision) return undefined;
  return refuse('REVISION_CONFLICT', 'the Approval is about another revision of the Mission', {
    expectedRevision: approval.missionRevision,
    currentRevision: mission.revision,
  });
}
