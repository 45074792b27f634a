// The Event of a newly authorized WorkItem: the item itself, its dedicated Conversation (MWP-MSN-015a) and the budget
// that returns to the parent account to make room for it.
import { codePointLength } from '../protocol/documents/json-value.ts';
import type { Release } from './allocation.ts';
import type {
  ConversationAggregate,
  MissionAggregate,
  WorkContract,
  WorkItemDetails,
  WorkItemDocument,
} from './aggregates.ts';
import type { DecisionContext, EventDraft, Request } from './decider.ts';
import type { View } from './view.ts';

/** conversation.schema.json */
const TITLE_MAXIMUM = 500;

export interface NewWork {
  workItemId: string;
  proposalId?: string | undefined;
  parentWorkItemId?: string | undefined;
  replacesWorkItemId?: string | undefined;
  exclusive?: boolean | undefined;
  emergencyOverride?: { reason: string } | undefined;
}

export function authorizedEvent(
  { command, payload }: Request<NewWork>,
  contract: WorkContract<string>,
  { mission }: MissionAggregate,
  releases: Release[],
  view: View,
  { now, newId }: DecisionContext,
): EventDraft {
  const { missionId, groupId } = mission;
  const { workItemId, proposalId, exclusive, emergencyOverride } = payload;
  const conversationId = newId();
  const proposal = proposalId === undefined ? undefined : view.get('work_proposal', proposalId);
  const workItem: WorkItemDocument<string> = {
    workItemId,
    missionId,
    groupId,
    conversationId,
    revision: 1,
    state: 'open',
    exclusive: exclusive ?? true,
    contract,
    createdBy: proposal?.proposedBy ?? command.actor,
    authorizedBy: command.actor,
    createdAt: now,
  };
  const conversation: ConversationAggregate<string> = {
    conversationId,
    missionId,
    groupId,
    type: 'work_item',
    primaryWorkItemId: workItemId,
    title: titleOf(contract.goal),
    access: { mode: 'group' },
    createdBy: command.actor,
    createdAt: now,
    state: 'active',
    revision: 0,
  };
  return {
    kind: 'work.authorized',
    groupId,
    aggregateRevision: 1,
    workItemId,
    conversationId,
    payload: {
      workItem,
      details: detailsOf(payload, view),
      proposalId: proposalId ?? null,
      conversation,
      releases,
      ...(emergencyOverride && { emergencyOverride }),
    },
  };
}

function detailsOf(work: NewWork, view: View): WorkItemDetails<string> {
  const { parentWorkItemId, replacesWorkItemId, proposalId } = work;
  const parent = parentWorkItemId === undefined ? undefined : view.get('work_item', parentWorkItemId);
  return {
    ownershipEpoch: 0,
    ...(parentWorkItemId !== undefined && { parentWorkItemId }),
    delegationDepth: parent ? parent.details.delegationDepth + 1 : 0,
    ...(replacesWorkItemId !== undefined && { replacesWorkItemId }),
    ...(proposalId !== undefined && { proposalId }),
    artifactIds: [],
    executionApprovalIds: [],
  };
}

function titleOf(goal: string): string {
  return codePointLength(goal) <= TITLE_MAXIMUM ? goal : Array.from(goal).slice(0, TITLE_MAXIMUM).join('');
}
