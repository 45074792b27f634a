// The six stages of a Signed Document, in order, stopping at the first that fails (MWP-SDV-015). Success says that the
// document is genuine; whether its signer may do what it says is judged later and elsewhere.

import { checkDocument } from '../protocol/documents/catalogue.ts';
import { isJsonObject } from '../protocol/documents/json-value.ts';
import type { Signature } from '../protocol/documents/shapes.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import type { Principal } from '../protocol/principals.ts';
import { sha256Label, tryCanonicalText } from '../wire/canonical.ts';
import { MAX_JSON_BYTES, MAX_JSON_DEPTH, parseStrictJson, type JsonBounds } from '../wire/strict-json.ts';
import { DUMMY_KEY } from './dummy-key.ts';
import { nativeVerify } from './ed25519.ts';
import { readEnvelope, rFailure } from './envelope.ts';
import type { KeyBinding, RegistryEvidence } from './evidence.ts';
import { selectKey } from './key-resolution.ts';
import { schemaFailure, trustFailure, unsupportedVersion, type TrustFailure } from './outcome.ts';
import type { SignedDocument } from './signed-kinds.ts';

declare const sixStages: unique symbol;

/** Made by this module alone, so that nothing unverified can be admitted (MWP-ADM-005). */
export interface Verified<Kind extends SignedDocumentKind = SignedDocumentKind> {
  readonly [sixStages]: true;
  readonly ok: true;
  readonly kind: Kind;
  readonly organizationId: string;
  /** The received value itself, nothing rewritten. */
  readonly document: SignedDocument<Kind>;
  readonly signingBytes: Uint8Array;
  readonly signingHash: string;
  readonly keyId: string;
  readonly principal: Principal;
  readonly protectedTime: string;
  readonly binding: KeyBinding;
  readonly registryRevision: number;
  readonly applicability: 'current' | 'historical';
}

/** `value` is for a document that came inside another one whose bytes were read strictly. */
export type DocumentInput = { readonly bytes: Uint8Array } | { readonly value: unknown };

export type VerificationResult<Kind extends SignedDocumentKind> = Verified<Kind> | TrustFailure;

export async function verifyDocument<Kind extends SignedDocumentKind>(
  kind: Kind,
  input: DocumentInput,
  organizationId: string,
  evidence: RegistryEvidence,
): Promise<VerificationResult<Kind>> {
  const read = readDocument(kind, input);
  return read.ok ? await verifyRead(kind, read.document, organizationId, evidence) : read;
}

export type ReadResult<Kind extends SignedDocumentKind> =
  { readonly ok: true; readonly document: SignedDocument<Kind> } | ReadFailure;

/**
 * An Event tells the state that its Command changed, and a snapshot repeats entries of the policy log: they are deeper and
 * larger than what any sender may send. The other kinds keep to the bounds of the wire.
 */
const BOUNDS: Partial<Record<SignedDocumentKind, JsonBounds>> = {
  event: { maxBytes: 8 * MAX_JSON_BYTES, maxDepth: MAX_JSON_DEPTH + 8 },
  'group-snapshot': { maxBytes: 8 * MAX_JSON_BYTES, maxDepth: MAX_JSON_DEPTH + 8 },
};

/** `value` is what stage 1 took, where stage 2 refused it: not one member of it is checked. */
export type ReadFailure = TrustFailure & { readonly value?: unknown };

/** Stages 1 and 2. Needs no evidence and no lock, so a pipeline reads once and verifies what was read. */
export function readDocument<Kind extends SignedDocumentKind>(kind: Kind, input: DocumentInput): ReadResult<Kind> {
  let value: unknown;
  if ('bytes' in input) {
    const json = parseStrictJson(input.bytes, BOUNDS[kind]);
    if (!json.ok) return trustFailure('parse', json.fault);
    value = json.value; // a data model fault waits for stage 5
  } else {
    value = input.value;
  }
  const check = checkDocument<SignedDocumentKind>(kind, value);
  if (!check.valid) {
    const failure = isOfAnotherVersion(value) ? unsupportedVersion(check.reason) : schemaFailure(check);
    return { ...failure, value };
  }
  return { ok: true, document: check.document as SignedDocument<Kind> };
}

function isOfAnotherVersion(value: unknown): boolean {
  const version = isJsonObject(value) ? value['protocolVersion'] : undefined;
  return typeof version === 'string' && version !== '0.1';
}

/** Stages 3 to 6 over a document that readDocument gave. */
export async function verifyRead<Kind extends SignedDocumentKind>(
  kind: Kind,
  document: SignedDocument<Kind>,
  organizationId: string,
  evidence: RegistryEvidence,
): Promise<VerificationResult<Kind>> {
  const envelope = readEnvelope(kind, document);
  if (!envelope.ok) return named(envelope, document, canonicalForm(document));
  const { signature, protectedTime } = envelope;

  const found = await evidence.resolve(organizationId, document.signature.keyId);
  const selected = selectKey(kind, document, organizationId, protectedTime, found);
  const canonical = canonicalForm(document);
  const bytes = canonical.ok ? canonical.bytes : NO_BYTES;
  if (!selected.ok) return named(await refuseAfterEqualWork(signature, bytes, selected), document, canonical);
  if (!canonical.ok) return named(await refuseAfterEqualWork(signature, bytes, canonical), document, canonical);
  if (!(await nativeVerify(selected.key, signature, canonical.bytes))) {
    const failure = rFailure(signature) ?? trustFailure('signature', 'equation-fails');
    return named(failure, document, canonical);
  }
  const verified: Omit<Verified<Kind>, typeof sixStages> = {
    ok: true,
    kind,
    organizationId,
    document,
    signingBytes: canonical.bytes,
    signingHash: sha256Label(canonical.bytes),
    keyId: selected.binding.keyId,
    principal: selected.binding.principal,
    protectedTime,
    binding: selected.binding,
    registryRevision: selected.registryRevision,
    applicability: selected.applicability,
  };
  return verified as Verified<Kind>;
}

type CanonicalForm = { readonly ok: true; readonly bytes: Uint8Array } | TrustFailure;

/** The hash is told whatever failed: it is how the audit speaks of a document without a word of it. */
function named(failure: TrustFailure, { signature }: { signature: Signature }, canonical: CanonicalForm): TrustFailure {
  const { keyId } = signature;
  const signingHash = canonical.ok ? { signingHash: sha256Label(canonical.bytes) } : {};
  return { ...failure, document: { keyId, ...signingHash } };
}

/** Stage 5: only the top-level `signature` stays out. */
function canonicalForm(document: { signature: Signature }): CanonicalForm {
  const form = tryCanonicalText(document, 'signature');
  return form.ok ? { ok: true, bytes: Buffer.from(form.text, 'utf8') } : trustFailure('canonicalization', form.fault);
}

/** The same cryptography as for a known key, so that timing tells nothing; the earlier stage is named first. */
async function refuseAfterEqualWork(signature: Uint8Array, bytes: Uint8Array, failure: TrustFailure) {
  await nativeVerify(DUMMY_KEY, signature, bytes);
  return rFailure(signature) ?? failure;
}

const NO_BYTES = new Uint8Array(0);
