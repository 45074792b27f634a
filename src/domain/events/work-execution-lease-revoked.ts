// work_execution_lease_revoked: the owner's leases end from outside; an active item is `queued` again and keeps its owner.
import type { LeaseAggregate, WorkItemState } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { LEASE_REVOKED } from '../interruptions.ts';
import { changeWorkItem, setLeases } from '../work-items.ts';

interface WorkExecutionLeaseRevoked {
  workItemId: string;
  status: WorkItemState;
  closedLeases: LeaseAggregate[];
  /** With its new end; absent when ownership is among the closed ones. */
  ownershipLease?: LeaseAggregate;
}

export const workExecutionLeaseRevoked: EventKind<WorkExecutionLeaseRevoked> = {
  kind: LEASE_REVOKED,
  erasable: [],

  evolve(view, event) {
    const { workItemId, status, closedLeases, ownershipLease } = event.payload;
    setLeases(view, ownershipLease ? [...closedLeases, ownershipLease] : closedLeases);
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => {
      const { executionLeaseId: _execution, blockedLeaseId: _blocked, ...rest } = details;
      return { workItem: { ...workItem, state: status }, details: rest };
    });
  },
};
