// One record of a refusal, as auditors read it.
import { z } from 'zod';
import { actor, id, positiveInteger, sha256, timestamp } from '../../protocol/documents/shapes.ts';
import { SIGNED_DOCUMENT_KINDS } from '../../protocol/kinds.ts';
import { ERROR_CODES } from '../../protocol/refusals.ts';

const said = (description: string) => ({ description });

export const auditRecordShape = z.strictObject({
  id: positiveInteger,
  recordedAt: timestamp,
  stage: z.string().meta(said('The stage of verification that failed first, `admission`, or `domain`.')),
  reason: z.string(),
  code: z.enum(ERROR_CODES),
  caller: actor.optional().meta(said('Who brought it, by its token.')),
  receivedHash: sha256.optional().meta(said('SHA-256 of the bytes as they came.')),
  signingHash: sha256.optional().meta(said('Of the Command, where it has a canonical form.')),
  keyId: id.optional(),
  actor: actor
    .optional()
    .meta(said('As it says. Proven only where the stage is `admission` or `domain`, or `documentKind` is there.')),
  actionId: id.optional(),
  groupId: id.optional(),
  documentKind: z
    .enum(SIGNED_DOCUMENT_KINDS)
    .optional()
    .meta(said('There where a Signed Document inside the Command was not believed.')),
  documentPath: z.string().optional().meta(said('Where in the Command it stands: a JSON Pointer.')),
  documentHash: sha256.optional().meta(said('Signing hash of that document.')),
  documentKeyId: id.optional(),
});
