// Stage 4: from Registry evidence to one key that counts at the protected time (MWP-SDV-011, -013, -014).

import type { Signature } from '../protocol/documents/shapes.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import { samePrincipal } from '../protocol/principals.ts';
import { NOBODYS_BINDING } from './dummy-key.ts';
import { importPublicKey, type PublicKey } from './ed25519.ts';
import { keyStatusAt, type KeyBinding, type KeyEvidence } from './evidence.ts';
import { trustFailure, type TrustFailure } from './outcome.ts';
import { expectedSignerOf } from './signed-kinds.ts';

export interface SelectedKey {
  readonly ok: true;
  readonly key: PublicKey;
  readonly binding: KeyBinding;
  readonly registryRevision: number;
  readonly applicability: 'current' | 'historical';
}

/** Every doubt, absence included, ends here and looks alike on the wire (MWP-SDV-011). */
export function selectKey(
  kind: SignedDocumentKind,
  document: { signature: Signature },
  organizationId: string,
  protectedTime: string,
  found: KeyEvidence,
): SelectedKey | TrustFailure {
  if (found.outcome !== 'established') return keyFailure(`evidence-${found.outcome}: ${found.reason}`);
  if (found.organizationId !== organizationId) return keyFailure('evidence-of-another-organization');
  const { binding } = found;
  // Told last and judged first: some microseconds that otherwise only a known key of the right principal would cost.
  const status = keyStatusAt(binding ?? NOBODYS_BINDING, protectedTime);
  if (binding === undefined) return keyFailure('key-unknown');
  if (binding.keyId !== document.signature.keyId) return keyFailure('evidence-of-another-key');
  const signer = expectedSignerOf(kind, document);
  if (signer === 'any-service') {
    if (binding.principal.type !== 'service') return keyFailure('signer-not-a-service');
  } else if (!samePrincipal(signer, binding.principal)) {
    return keyFailure('key-of-another-principal');
  }
  if (status !== 'valid') return keyFailure(`key-${status}`);
  const imported = importPublicKey(binding.publicKey);
  if (!imported.ok) return keyFailure(`public-key-${imported.fault}`);
  const { registryRevision, applicability = 'current' } = found;
  return { ok: true, key: imported.key, binding, registryRevision, applicability };
}

function keyFailure(reason: string): TrustFailure {
  return trustFailure('key-resolution', reason);
}
