// What the authority signs outside an acceptance is verified and admitted like any Signed Document before it is stored.
import type { FirstAdmissionRecord } from '../protocol/documents/first-admission-record.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import type { Principal } from '../protocol/principals.ts';
import { candidateRecord } from './admission.ts';
import type { KeyBinding, RegistryEvidence } from './evidence.ts';
import { verifyDocument } from './verify.ts';

export interface OwnAdmission {
  organizationId: string;
  authority: Principal;
  /** The key that it is signed with. */
  keyId: string;
  admissionRecordId: string;
  trustedAcceptedAt: string;
  /** The Registry's tables themselves. */
  keyEvidence: (keyIds: string[]) => Promise<ReadonlyMap<string, OwnKeyEvidence>>;
}

interface OwnKeyEvidence {
  registryRevision: number;
  binding?: Omit<KeyBinding, 'history'>;
  validity: KeyBinding['history'];
}

/** Throws where the service's own key would not be believed: nothing unproven is stored. */
export async function admitOwn(
  kind: SignedDocumentKind,
  body: string,
  admission: OwnAdmission,
): Promise<FirstAdmissionRecord> {
  const { organizationId, authority: acceptedBy, admissionRecordId, trustedAcceptedAt } = admission;
  const document = { bytes: Buffer.from(body, 'utf8') };
  const verified = await verifyDocument(kind, document, organizationId, currentEvidence(admission));
  const admitted = verified.ok
    ? candidateRecord(verified, { admissionRecordId, trustedAcceptedAt, acceptedBy })
    : verified;
  if (!admitted.ok) throw new Error(`a ${kind} of ours is not believed: ${admitted.diagnostic.forAudit().reason}`);
  return admitted.record;
}

/** For the one key that this process holds the private half of. */
function currentEvidence({ organizationId, keyId: own, keyEvidence }: OwnAdmission): RegistryEvidence {
  return {
    resolve: async (_, keyId) => {
      const found = (await keyEvidence([own])).get(keyId);
      if (!found) return { outcome: 'incomplete', reason: 'asked for another key' };
      const { registryRevision, binding, validity } = found;
      const bound = binding && { ...binding, history: validity };
      return { outcome: 'established', organizationId, registryRevision, binding: bound };
    },
  };
}
