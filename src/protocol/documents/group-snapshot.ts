// The Group Snapshot: a service signs the state hash of a Group through one sequence.

import { z } from 'zod';
import { actor, atLeastOne, id, jsonObject, positiveInteger, serviceActor, sha256, signature } from './shapes.ts';
import { text, timestamp, uniqueAtLeastOne } from './shapes.ts';

export const policyLogEntry = z.strictObject({
  entryId: id,
  decision: text(1, 4000),
  actor,
  occurredAt: timestamp,
  details: jsonObject,
});
export type PolicyLogEntry = z.infer<typeof policyLogEntry>;

export const groupSnapshotSchema = z.strictObject({
  snapshotId: id,
  groupId: id,
  throughSequence: positiveInteger,
  eventIds: uniqueAtLeastOne(id),
  stateHash: sha256,
  policyLog: atLeastOne(policyLogEntry),
  createdBy: serviceActor,
  createdAt: timestamp,
  signature,
});
export type GroupSnapshot = z.infer<typeof groupSnapshotSchema>;
