// work.progressed: leases of the owner have later ends; progress, where it was reported, is the current one.
import type { Committed, LeaseAggregate, WorkProgress } from '../aggregates.ts';
import { progressTextPaths } from '../contract-texts.ts';
import type { EventKind } from '../decider.ts';
import { changeWorkItem, setLeases } from '../work-items.ts';

interface WorkProgressed {
  workItemId: string;
  executionLease?: LeaseAggregate;
  blockedLease?: LeaseAggregate;
  ownershipLease: LeaseAggregate;
  progress?: WorkProgress<Committed>;
}

export const workProgressed: EventKind<WorkProgressed> = {
  kind: 'work.progressed',
  erasable: progressTextPaths('progress'),

  evolve(view, event) {
    const { workItemId, executionLease, blockedLease, ownershipLease, progress } = event.payload;
    setLeases(
      view,
      [executionLease, blockedLease, ownershipLease].filter((lease) => lease !== undefined),
    );
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => ({
      workItem: { ...workItem, ...(progress && { progress }) },
      details,
    }));
  },
};
