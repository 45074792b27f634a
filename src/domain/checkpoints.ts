// A stored checkpoint, and where free text stands in it.
import type { CheckpointAggregate } from './aggregates.ts';
import type { View } from './view.ts';

export const CHECKPOINT_TEXTS = ['checkpoint.phase', 'checkpoint.completedMilestones.*', 'checkpoint.nextStep'];

export function setCheckpoint(view: View, checkpoint: CheckpointAggregate): void {
  view.set('checkpoint', checkpoint.checkpointId, checkpoint.groupId, checkpoint);
}
