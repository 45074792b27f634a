// work.checkpointed: the WorkItem is queued again with its owner, who can resume from the checkpoint.
import type { CheckpointAggregate, Committed, LeaseAggregate, WorkProgress } from '../aggregates.ts';
import { CHECKPOINT_TEXTS, setCheckpoint } from '../checkpoints.ts';
import { progressTextPaths } from '../contract-texts.ts';
import type { EventKind } from '../decider.ts';
import { changeWorkItem, setLeases } from '../work-items.ts';

interface WorkCheckpointed {
  workItemId: string;
  checkpoint: CheckpointAggregate;
  ownershipLease: LeaseAggregate;
  closedLeases: LeaseAggregate[];
  progress?: WorkProgress<Committed>;
}

export const workCheckpointed: EventKind<WorkCheckpointed> = {
  kind: 'work.checkpointed',
  erasable: [...CHECKPOINT_TEXTS, ...progressTextPaths('progress')],

  evolve(view, event) {
    const { workItemId, checkpoint, ownershipLease, closedLeases, progress } = event.payload;
    setCheckpoint(view, checkpoint);
    setLeases(view, [...closedLeases, ownershipLease]);
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => {
      const { executionLeaseId: _ended, ...others } = details;
      return {
        workItem: { ...workItem, state: 'queued', ...(progress && { progress }) },
        details: { ...others, latestCheckpointId: checkpoint.checkpointId },
      };
    });
  },
};
