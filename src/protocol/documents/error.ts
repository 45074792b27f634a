// The error object of the wire. Its codes are the closed table of refusals.ts; it has no room for a diagnostic.

import { z } from 'zod';
import { ERROR_CODES } from '../refusals.ts';
import { id, jsonObject, safeInteger, sha256, text, timestamp } from './shapes.ts';

export const errorSchema = z.strictObject({
  code: z.enum(ERROR_CODES),
  message: text(1, 2000),
  retryable: z.boolean(),
  fatal: z.boolean().optional(),
  relatedFrameId: id.optional(),
  relatedActionId: id.optional(),
  groupId: id.optional(),
  expectedRevision: safeInteger.optional(),
  currentRevision: safeInteger.optional(),
  retryAfterMs: safeInteger.optional(),
  snapshotArtifactHash: sha256.optional(),
  details: jsonObject.optional(),
  occurredAt: timestamp,
});
export type ProtocolError = z.infer<typeof errorSchema>;
