// work.authorized: a WorkItem is open, with its Conversation and its budget account; the proposal it came from is closed.
import {
  workItemAccountId,
  type Committed,
  type ConversationAggregate,
  type WorkItemDetails,
  type WorkItemDocument,
} from '../aggregates.ts';
import { applyReleases, openAccount } from '../accounts.ts';
import { parentAccountOf, type Release } from '../allocation.ts';
import { acceptedLimits, NO_AMOUNTS } from '../budget.ts';
import { contractTextPaths } from '../contract-texts.ts';
import type { EventKind } from '../decider.ts';
import type { View } from '../view.ts';
import { countWorkItem } from '../work-items.ts';

interface WorkAuthorized {
  workItem: WorkItemDocument<Committed>;
  details: WorkItemDetails<Committed>;
  proposalId: string | null;
  conversation: ConversationAggregate;
  releases: Release[];
}

export const workAuthorized: EventKind<WorkAuthorized> = {
  kind: 'work.authorized',
  erasable: [...contractTextPaths('workItem.contract'), 'conversation.title', 'emergencyOverride.reason'],

  evolve(view, { payload: { workItem, details, proposalId, conversation, releases } }) {
    const { workItemId, missionId, groupId, contract } = workItem;
    view.set('work_item', workItemId, groupId, { workItem, details });
    view.set('conversation', conversation.conversationId, groupId, conversation);
    applyReleases(view, releases);
    openAccount(view, {
      accountId: workItemAccountId(workItemId),
      groupId,
      owner: { type: 'work_item', id: workItemId },
      parentAccountId: parentAccountOf(missionId, details.parentWorkItemId),
      ...(contract.budget.currency !== undefined && { currency: contract.budget.currency }),
      limit: acceptedLimits(contract.budget),
      allocated: NO_AMOUNTS,
      usage: NO_AMOUNTS,
      state: 'open',
    });
    if (proposalId !== null) closeProposal(view, proposalId, workItemId);
    countWorkItem(view, missionId);
  },
};

function closeProposal(view: View, proposalId: string, workItemId: string): void {
  const proposal = view.toChange('work_proposal', proposalId);
  if (!proposal) return;
  view.set('work_proposal', proposalId, proposal.groupId, { ...proposal, state: 'authorized', workItemId });
}
