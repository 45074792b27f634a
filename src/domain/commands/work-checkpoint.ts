// work.checkpoint: the executing owner saves where it is and frees its slot; it may resume within a bound (commands.md
// 1.23, WT-8, MWP-WRK-015b).
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { workProgress } from '../../protocol/documents/work-item.ts';
import { isRefusal } from '../../protocol/refusals.ts';
import type { CommandKind } from '../decider.ts';
import { checkExecuting, heldOwnership, releasedExecution } from '../execution.ts';
import { resumeOwnership } from '../leases.ts';
import { groupOf, missionOf, workItemIn, workReads } from '../roles.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { checkpoint, checkpointOf } from './checkpoint.ts';
import { epoch, optional, payload, seconds } from './shapes.ts';

const schema = payload({
  workItemId: id,
  ownershipEpoch: epoch,
  executionLeaseId: id,
  checkpoint,
  resumeWithinSeconds: optional(seconds),
  progress: optional(workProgress),
});

export type WorkCheckpointPayload = z.infer<typeof schema>;

export const workCheckpoint: CommandKind<WorkCheckpointPayload> = {
  kind: 'work.checkpoint',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ payload }) => workReads(payload.workItemId),

  decide({ command, payload }, view, { now, newId, policy }) {
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const refusal = checkExecuting(command, item, payload, view, now);
    if (refusal) return refusal;
    const { groupId, workItemId, contract } = item.workItem;
    const { ownershipEpoch, executionLeaseId, progress } = payload;
    const asked = payload.resumeWithinSeconds ?? policy.resumeWindowSeconds;
    const ownershipLease = resumeOwnership(
      heldOwnership(item, view),
      now,
      Math.min(asked, policy.leases.ownershipMaximum),
      contract.deadline,
      missionOf(view, groupId).mission.deadline,
    );
    const origin = { checkpointId: newId(), groupId, workItemId, ownershipEpoch, executionLeaseId };
    return {
      events: [
        {
          kind: 'work.checkpointed',
          ...workEvent(item),
          payload: {
            workItemId,
            checkpoint: checkpointOf(payload.checkpoint, origin),
            ownershipLeaseExpiresAt: ownershipLease.expiresAt,
            ownershipLease,
            closedLeases: [releasedExecution(item, view, 'checkpoint', now)],
            ...(progress && { progress }),
          },
        },
      ],
    };
  },
};
