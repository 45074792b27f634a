// The Context Package: an Agent's signed summary of a range of Events, for members who join later.

import { z } from 'zod';
import { agentActor, array, extensions, id, positiveInteger, sha256, signature, text } from './shapes.ts';
import { timestamp, unique, uniqueAtLeastOne } from './shapes.ts';

export const contextPackageSchema = z.strictObject({
  contextPackageId: id,
  version: positiveInteger,
  previousContextPackageId: id.optional(),
  missionId: id,
  groupId: id,
  workItemId: id.optional(),
  sourceEventRange: z.strictObject({
    fromSequence: positiveInteger,
    toSequence: positiveInteger,
    eventIds: uniqueAtLeastOne(id),
  }),
  artifactHashes: unique(sha256),
  summary: text(1, 50_000),
  decisions: array(z.strictObject({ description: text(1, 4000), sourceEventIds: uniqueAtLeastOne(id) })),
  constraints: array(text(1, 4000)),
  unresolvedQuestions: array(text(1, 4000)),
  generatedBy: agentActor,
  generatedAt: timestamp,
  extensions: extensions.optional(),
  signature,
});
export type ContextPackage = z.infer<typeof contextPackageSchema>;
