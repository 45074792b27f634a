// work.started: the WorkItem is active under its Execution Lease; ownership ends with that lease while it is.
import type { LeaseAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { changeWorkItem } from '../work-items.ts';

interface WorkStarted {
  workItemId: string;
  executionLease: LeaseAggregate;
  ownershipLease: LeaseAggregate;
}

export const workStarted: EventKind<WorkStarted> = {
  kind: 'work.started',
  erasable: [],

  evolve(view, event) {
    const { workItemId, executionLease, ownershipLease } = event.payload;
    view.set('lease', executionLease.leaseId, executionLease.groupId, executionLease);
    view.set('lease', ownershipLease.leaseId, ownershipLease.groupId, ownershipLease);
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => ({
      workItem: { ...workItem, state: 'active' },
      details: { ...details, executionLeaseId: executionLease.leaseId },
    }));
  },
};
