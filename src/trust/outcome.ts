// What the trust layer answers: a refusal for the caller and, apart from it, the diagnostic for the audit record.

import type { Fault } from '../protocol/documents/catalogue.ts';
import { refuse, type ErrorCode, type Refusal } from '../protocol/refusals.ts';
import { ProtectedDiagnostic, type TrustStage } from './diagnostic.ts';

export interface TrustFailure {
  readonly ok: false;
  /** Goes to the caller as it is. Equal for every key, admission and cryptographic cause (MWP-SDV-018b). */
  readonly refusal: Refusal;
  readonly diagnostic: ProtectedDiagnostic;
  /** What the document that failed says of itself, believed or not, as far as it could be read. */
  readonly document?: DocumentNames;
}

export interface DocumentNames {
  readonly keyId?: string;
  /** Of the exact stage-5 bytes, where there are any. */
  readonly signingHash?: string;
}

const CODE_OF_STAGE: Readonly<Record<TrustStage, ErrorCode>> = {
  parse: 'PROTOCOL_VIOLATION',
  schema: 'SCHEMA_VALIDATION_FAILED',
  'signature-envelope': 'AUTH_INVALID_SIGNATURE',
  'key-resolution': 'AUTH_INVALID_SIGNATURE',
  canonicalization: 'PROTOCOL_VIOLATION',
  signature: 'AUTH_INVALID_SIGNATURE',
  admission: 'AUTH_INVALID_SIGNATURE',
};

const NOT_BELIEVED = 'The signature of the document could not be accepted.';
const NOT_STRICT_JSON = 'The document is not exactly one strict JSON value.';

/** Stage 2 as well, told apart so that the sender knows to speak another version and not to search for a mistake. */
export function unsupportedVersion(reason: string): TrustFailure {
  const refusal = refuse('UNSUPPORTED_VERSION', 'the document is of another protocolVersion than 0.1');
  return { ok: false, refusal, diagnostic: new ProtectedDiagnostic('schema', reason) };
}

/** A schema fault is the sender's own document and may be told; nothing else is. */
export function schemaFailure({ fault, reason }: Fault): TrustFailure {
  const refusal = refuse(CODE_OF_STAGE.schema, fault);
  return { ok: false, refusal, diagnostic: new ProtectedDiagnostic('schema', reason) };
}

export function trustFailure(stage: Exclude<TrustStage, 'schema'>, reason: string): TrustFailure {
  const code = CODE_OF_STAGE[stage];
  const message = code === 'PROTOCOL_VIOLATION' ? NOT_STRICT_JSON : NOT_BELIEVED;
  return { ok: false, refusal: refuse(code, message), diagnostic: new ProtectedDiagnostic(stage, reason) };
}
