// work.unblocked: the WorkItem is queued with its owner, or open without one.
import type { LeaseAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { changeWorkItem, fenced, setLeases } from '../work-items.ts';

interface WorkUnblocked {
  workItemId: string;
  status: 'queued' | 'open';
  closedLeases: LeaseAggregate[];
  /** With its new end; absent when nobody owns the item any more. */
  ownershipLease?: LeaseAggregate;
}

export const workUnblocked: EventKind<WorkUnblocked> = {
  kind: 'work.unblocked',
  erasable: ['resolution'],

  evolve(view, event) {
    const { workItemId, status, closedLeases, ownershipLease } = event.payload;
    setLeases(view, ownershipLease ? [...closedLeases, ownershipLease] : closedLeases);
    changeWorkItem(view, event, workItemId, (item) => {
      const { workItem, details } = status === 'open' ? fenced(item) : item;
      const { blockedLeaseId: _ended, blocker: _resolved, childMissionId: _child, ...others } = details;
      return { workItem: { ...workItem, state: status }, details: others };
    });
  },
};
