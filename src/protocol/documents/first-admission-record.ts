// The First-Admission Record: exactly nine members and no signature (MWP-ADM-001). Only the log makes it credible.

import { z } from 'zod';
import { SIGNED_DOCUMENT_KINDS } from '../kinds.ts';
import { actor, id, protocolVersion, serviceActor, sha256, timestamp } from './shapes.ts';

export const firstAdmissionRecordSchema = z.strictObject({
  protocolVersion,
  admissionRecordId: id,
  organizationId: id,
  documentKind: z.enum(SIGNED_DOCUMENT_KINDS),
  signingHash: sha256,
  keyId: id,
  principal: actor,
  trustedAcceptedAt: timestamp,
  acceptedBy: serviceActor,
});
export type FirstAdmissionRecord = z.infer<typeof firstAdmissionRecordSchema>;
