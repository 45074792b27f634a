// By what else than its id an aggregate can be found. The stores keep these three beside the document and index them.
import { principalKey } from '../protocol/principals.ts';
import type { AggregateKind, Aggregates } from './aggregates.ts';

export interface AggregateIndex {
  /** The aggregate's own state word, where it has one. */
  state?: string;
  /** Whose it is: an agent id for cards, sessions, WorkItems and leases, a principal key elsewhere. */
  holder?: string;
  /** What it hangs on: a WorkItem, Conversation or account id. */
  parent?: string;
}

type Indexers = { [K in AggregateKind]: (document: Aggregates[K]) => AggregateIndex };

const INDEXERS: Indexers = {
  agent_card: (card) => ({ state: card.status, holder: card.agentId }),
  session: (session) => ({ holder: session.agentId }),
  mission: ({ mission }) => ({ state: mission.state, holder: principalKey(mission.missionOwner) }),
  group: (group) => ({ state: group.state }),
  conversation: (conversation) => ({ state: conversation.state, parent: conversation.primaryWorkItemId }),
  membership: (membership) => ({ state: membership.state, holder: principalKey(membership.member) }),
  work_proposal: (proposal) => ({ state: proposal.state, holder: principalKey(proposal.proposedBy) }),
  work_item: ({ workItem, details }) => ({
    state: workItem.state,
    holder: workItem.owner?.agentId,
    parent: details.parentWorkItemId,
  }),
  lease: (lease) => ({ state: lease.state, holder: lease.holderAgentId, parent: lease.workItemId }),
  artifact: (artifact) => ({ holder: artifact.contentHash, parent: artifact.workItemId }),
  evidence: (evidence) => ({ state: evidence.result, parent: evidence.workItemId }),
  approval: (approval) => ({ state: approval.decision, parent: approval.workItemId }),
  budget_account: (account) => ({ state: account.state, parent: account.parentAccountId }),
  message: (message) => ({ holder: principalKey(message.author), parent: message.conversationId }),
  checkpoint: (checkpoint) => ({ parent: checkpoint.workItemId }),
};

export function indexOf<K extends AggregateKind>(kind: K, document: Aggregates[K]): AggregateIndex {
  return INDEXERS[kind](document);
}

/** Of a word that came from outside. */
export function isAggregateKind(kind: string): kind is AggregateKind {
  return Object.hasOwn(INDEXERS, kind);
}
