// Stage 3: the signature envelope against the protected content (MWP-SDV-002, -003).

import type { Signature } from '../protocol/documents/shapes.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import { isCapitalZ } from '../protocol/timestamps.ts';
import { decodeBase64url } from '../wire/base64url.ts';
import { isScalarInRange, SIGNATURE_BYTES, signatureRFault } from './ed25519.ts';
import { trustFailure, type TrustFailure } from './outcome.ts';
import { protectedTimeOf } from './signed-kinds.ts';

export type Envelope =
  { readonly ok: true; readonly signature: Uint8Array; readonly protectedTime: string } | TrustFailure;

/** All but the strict point check of R, which is owed only where a later stage fails (see rFailure). */
export function readEnvelope(kind: SignedDocumentKind, document: { signature: Signature }): Envelope {
  const protectedTime = protectedTimeOf(kind, document);
  const { createdAt, value } = document.signature;
  if (!isCapitalZ(protectedTime) || !isCapitalZ(createdAt)) return envelopeFailure('time-without-capital-z');
  if (protectedTime !== createdAt) return envelopeFailure('created-at-differs-from-protected-time');
  const signature = decodeBase64url(value);
  if (signature === undefined) return envelopeFailure('signature-not-canonical-base64url');
  if (signature.length !== SIGNATURE_BYTES) return envelopeFailure('signature-not-64-bytes');
  if (!isScalarInRange(signature)) return envelopeFailure('s-out-of-range');
  return { ok: true, signature, protectedTime };
}

/**
 * A signature that verifies under a prime-order key has a sound R, so the hot path never asks. Where stages 4 to 6 say
 * no, R decides whether stage 3 had to say it first.
 */
export function rFailure(signature: Uint8Array): TrustFailure | undefined {
  const fault = signatureRFault(signature);
  return fault === undefined ? undefined : envelopeFailure(`r-${fault}`);
}

function envelopeFailure(reason: string): TrustFailure {
  return trustFailure('signature-envelope', reason);
}
