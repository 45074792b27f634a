// Taking running work out of an Agent's hands from outside: its session was replaced, its Card revoked or its
// Membership ended (commands.md (k), 2.1, 1.12). The item waits in `queued`, in whatever Group it is.
import type { LeaseAggregate, WorkItemAggregate } from './aggregates.ts';
import type { DecisionContext, EventDraft } from './decider.ts';
import { closeLease, resumeOwnership } from './leases.ts';
import { list, type ListRead, type Read } from './reads.ts';
import { workLeasesRead } from './roles.ts';
import type { View } from './view.ts';

export const LEASE_REVOKED = 'ext.missionweaveprotocol.core.work_execution_lease_revoked';

export interface Interruption {
  reason: 'session_replaced' | 'card_revoked' | 'membership_ended';
  /** The session that replaces the one whose leases these were. */
  sessionEpoch?: number;
  /** Position of the draft that causes it; absent: the Command. */
  causedBy?: number;
}

/** What the Agent executes, over all Groups. */
export function activeItemsRead(agentId: string): ListRead & { kind: 'work_item' } {
  return list('work_item', { holder: agentId, states: ['active'] }) as ListRead & { kind: 'work_item' };
}

export function activeItemLeaseReads(view: View, agentId: string): Read[] {
  return view.list(activeItemsRead(agentId)).map(({ workItem }) => workLeasesRead(workItem.workItemId));
}

export function groupsOfActiveItems(view: View, agentId: string): string[] {
  return [...new Set(view.list(activeItemsRead(agentId)).map(({ workItem }) => workItem.groupId))];
}

/** One Event per active item of the Agent, by WorkItem id. */
export function interruptAll(
  view: View,
  agentId: string,
  interruption: Interruption,
  context: DecisionContext,
): EventDraft[] {
  return view
    .list(activeItemsRead(agentId))
    .map((item) => interrupted(item, view.list(workLeasesRead(item.workItem.workItemId)), interruption, context));
}

/** An active item returns to `queued` and can be resumed for a while; one that only waits loses its owner's leases. */
export function interrupted(
  { workItem, details }: WorkItemAggregate,
  leases: readonly LeaseAggregate[],
  { reason, sessionEpoch, causedBy }: Interruption,
  { now, policy }: DecisionContext,
): EventDraft {
  const wasActive = workItem.state === 'active';
  const { deadline } = workItem.contract;
  const kept = wasActive ? leases.find(({ leaseId }) => leaseId === workItem.owner?.ownershipLeaseId) : undefined;
  if (wasActive && !kept) throw new Error(`active WorkItem without ownership lease: ${workItem.workItemId}`);
  return {
    kind: LEASE_REVOKED,
    groupId: workItem.groupId,
    aggregateRevision: workItem.revision + 1,
    workItemId: workItem.workItemId,
    conversationId: workItem.conversationId,
    ...(causedBy !== undefined && { causedBy }),
    payload: {
      workItemId: workItem.workItemId,
      ...(details.executionLeaseId !== undefined && { executionLeaseId: details.executionLeaseId }),
      reason,
      status: wasActive ? 'queued' : workItem.state,
      ...(sessionEpoch !== undefined && { sessionEpoch }),
      closedLeases: leases.filter((lease) => lease !== kept).map((lease) => closeLease(lease, 'revoked', reason, now)),
      ...(kept && { ownershipLease: resumeOwnership(kept, now, policy.resumeWindowSeconds, deadline) }),
    },
  };
}
