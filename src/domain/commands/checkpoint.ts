// What work.checkpoint and work.block record of the state that execution can resume from.
import { z } from 'zod';
import { sha256, text, timestamp } from '../../protocol/documents/shapes.ts';
import type { CheckpointAggregate } from '../aggregates.ts';
import { optional } from './shapes.ts';

const MILESTONES_MAXIMUM = 500;

export const checkpoint = z.strictObject({
  phase: text(1, 500),
  completedMilestones: optional(z.array(text(1, 500)).max(MILESTONES_MAXIMUM)),
  nextStep: optional(text(1, 2_000)),
  stateArtifactHash: optional(sha256),
  createdAt: timestamp,
});

/** Under which id, of which item and under which lease it was made. */
export type CheckpointOrigin = Pick<
  CheckpointAggregate,
  'checkpointId' | 'groupId' | 'workItemId' | 'ownershipEpoch' | 'executionLeaseId'
>;

export function checkpointOf(
  { phase, completedMilestones, nextStep, stateArtifactHash, createdAt }: z.infer<typeof checkpoint>,
  origin: CheckpointOrigin,
): CheckpointAggregate<string> {
  return {
    ...origin,
    phase,
    completedMilestones: completedMilestones ?? [],
    ...(nextStep !== undefined && { nextStep }),
    ...(stateArtifactHash !== undefined && { stateArtifactHash }),
    createdAt,
  };
}
