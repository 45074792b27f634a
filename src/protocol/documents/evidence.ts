// Evidence: a signed statement about work against acceptance criteria.

import { z } from 'zod';
import { actor, EVIDENCE_TYPES, id, jsonObject, localId, sha256, signature, text, timestamp } from './shapes.ts';
import { unique, uniqueAtLeastOne } from './shapes.ts';

export const evidenceSchema = z.strictObject({
  evidenceId: id,
  missionId: id,
  groupId: id,
  workItemId: id,
  type: z.enum([...EVIDENCE_TYPES, 'failure_report']),
  // An Artifact may be named by its hash, which is an absolute URI in form as well.
  subject: z.strictObject({ type: z.enum(['work_item', 'artifact', 'mission']), id }),
  criterionIds: uniqueAtLeastOne(localId),
  method: text(1, 4000),
  result: z.enum(['passed', 'failed', 'inconclusive']),
  details: jsonObject.optional(),
  artifactHashes: unique(sha256),
  generatedBy: actor,
  toolVersion: text(0, 500).optional(),
  modelVersion: text(0, 500).optional(),
  createdAt: timestamp,
  signature,
});
export type Evidence = z.infer<typeof evidenceSchema>;
