// work.blocked: the WorkItem waits for a resolution, its owner keeps it under a blocked lease.
import type { CheckpointAggregate, Committed, LeaseAggregate } from '../aggregates.ts';
import { CHECKPOINT_TEXTS, setCheckpoint } from '../checkpoints.ts';
import type { EventKind } from '../decider.ts';
import { changeWorkItem, setLeases } from '../work-items.ts';

interface WorkBlocked {
  workItemId: string;
  reason: Committed;
  checkpoint: CheckpointAggregate;
  ownershipLease: LeaseAggregate;
  blockedLease: LeaseAggregate;
  closedLeases: LeaseAggregate[];
}

export const workBlocked: EventKind<WorkBlocked> = {
  kind: 'work.blocked',
  erasable: ['reason', ...CHECKPOINT_TEXTS],

  evolve(view, event) {
    const { workItemId, reason, checkpoint, ownershipLease, blockedLease, closedLeases } = event.payload;
    setCheckpoint(view, checkpoint);
    setLeases(view, [...closedLeases, ownershipLease, blockedLease]);
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => {
      const { executionLeaseId: _ended, ...others } = details;
      return {
        workItem: { ...workItem, state: 'blocked' },
        details: {
          ...others,
          latestCheckpointId: checkpoint.checkpointId,
          blockedLeaseId: blockedLease.leaseId,
          blocker: reason,
        },
      };
    });
  },
};
