// First admission and historical replay, a layer over the six stages that alters nothing of their result (MWP-ADM-005).
// The judgements are pure and synchronous, for a pipeline that holds the log rows inside its own transaction.

import { samePrincipal } from '../protocol/principals.ts';
import type { FirstAdmissionRecord } from '../protocol/documents/first-admission-record.ts';
import { isTimestamp } from '../protocol/timestamps.ts';
import { checkDocument } from '../protocol/documents/catalogue.ts';
import type { AdmissionAppend, AdmissionLog, AdmissionLookup, AdmissionLookups } from './admission-log.ts';
import type { LogFailure, LoggedRecord, TrustedContext } from './admission-log.ts';
import { keyStatusAt } from './evidence.ts';
import { trustFailure, type TrustFailure } from './outcome.ts';
import { readAdmissionRecord } from './admission-record.ts';
import type { Verified } from './verify.ts';

/** The stable reasons of the protected audit record (MWP-ADM-012). */
export type AdmissionReason =
  | 'record-missing'
  | 'record-binding-mismatch'
  | 'trusted-time-outside-key-interval'
  | 'malformed-trusted-time'
  | 'record-conflict'
  | 'record-schema-invalid'
  | 'log-authentication-failed'
  | 'append-integrity-not-established'
  | 'log-unavailable'
  | 'log-indeterminate'
  | 'commit-failed'
  | 'event-self-anchoring'
  | 'evidence-not-current';

export type Admission = { readonly ok: true; readonly record: FirstAdmissionRecord } | TrustFailure;

/** First admission: look up, and only after proven absence ask for trusted time and append. */
export async function admitDocument(
  verified: Verified,
  log: AdmissionLog,
  trustedContext: () => TrustedContext | Promise<TrustedContext>,
): Promise<Admission> {
  const found = await log.lookup(verified.organizationId, verified.signingHash);
  if (found.outcome !== 'absent') return validateLookup(verified, found);
  const candidate = candidateRecord(verified, await trustedContext());
  if (!candidate.ok) return candidate;
  return validateAppend(verified, await log.appendOrGetExisting(candidate.record));
}

/** Historical replay: a record must stand already. It cannot append: it holds no such port (MWP-ADM-008b). */
export async function replayAdmission(verified: Verified, log: AdmissionLookups): Promise<Admission> {
  return validateLookup(verified, await log.lookup(verified.organizationId, verified.signingHash));
}

export type AdmissionJudgement =
  | { readonly ok: true; readonly record: FirstAdmissionRecord; readonly append: false }
  /** The caller appends this record in its transaction, under the unique constraints of the log. */
  | { readonly ok: true; readonly record: FirstAdmissionRecord; readonly append: true }
  | TrustFailure;

/** admitDocument for a caller that looked the record up under its own locks. `context` is taken on absence alone. */
export function judgeAdmission(
  verified: Verified,
  found: AdmissionLookup,
  context: () => TrustedContext,
): AdmissionJudgement {
  if (found.outcome !== 'absent') {
    const admission = validateLookup(verified, found);
    return admission.ok ? { ...admission, append: false } : admission;
  }
  const candidate = candidateRecord(verified, context());
  return candidate.ok ? { ...candidate, append: true } : candidate;
}

/** The record to append. Implies nothing until the log has taken it (MWP-ADM-007). */
export function candidateRecord(verified: Verified, context: TrustedContext): Admission {
  // Evidence that is only good for the past may anchor nothing new (MWP-ADM-006a).
  if (verified.applicability !== 'current') return admissionFailure('evidence-not-current');
  const { admissionRecordId, trustedAcceptedAt, acceptedBy } = context;
  if (!isTimestamp(trustedAcceptedAt)) return admissionFailure('malformed-trusted-time');
  if (keyStatusAt(verified.binding, trustedAcceptedAt) !== 'valid') {
    return admissionFailure('trusted-time-outside-key-interval');
  }
  const check = checkDocument('first-admission-record', {
    protocolVersion: '0.1',
    admissionRecordId,
    organizationId: verified.organizationId,
    documentKind: verified.kind,
    signingHash: verified.signingHash,
    keyId: verified.keyId,
    principal: verified.principal,
    trustedAcceptedAt,
    acceptedBy,
  });
  return check.valid ? { ok: true, record: check.document } : admissionFailure('record-schema-invalid');
}

/** Believes a record only bound to this document by all five bindings, by the authenticated service, at a good time. */
export function validateAdmissionRecord(verified: Verified, logged: LoggedRecord): Admission {
  const read = readAdmissionRecord(verified, logged.record);
  if (!read.ok) return admissionFailure(read.reason);
  const { record } = read;
  const bound =
    record.organizationId === verified.organizationId &&
    record.documentKind === verified.kind &&
    record.signingHash === verified.signingHash &&
    record.keyId === verified.keyId &&
    samePrincipal(record.principal, verified.principal);
  if (!bound) return admissionFailure('record-binding-mismatch');
  if (!samePrincipal(record.acceptedBy, logged.authenticatedService)) {
    return admissionFailure('log-authentication-failed');
  }
  // A second test of the interval: a backdated signing time rescues nothing (MWP-ADM-010).
  if (keyStatusAt(verified.binding, record.trustedAcceptedAt) !== 'valid') {
    return admissionFailure('trusted-time-outside-key-interval');
  }
  return { ok: true, record };
}

const LOOKUP_REASON: Readonly<Record<LogFailure | 'absent', AdmissionReason>> = {
  absent: 'record-missing',
  unauthenticated: 'log-authentication-failed',
  'integrity-failed': 'log-authentication-failed',
  unavailable: 'log-unavailable',
  indeterminate: 'log-indeterminate',
};

const APPEND_REASON: Readonly<Record<LogFailure | 'conflict' | 'commit-failed', AdmissionReason>> = {
  conflict: 'record-conflict',
  'commit-failed': 'commit-failed',
  unauthenticated: 'log-authentication-failed',
  'integrity-failed': 'append-integrity-not-established',
  unavailable: 'log-unavailable',
  indeterminate: 'log-indeterminate',
};

function validateLookup(verified: Verified, found: AdmissionLookup): Admission {
  return found.outcome === 'found'
    ? validateAdmissionRecord(verified, found)
    : admissionFailure(LOOKUP_REASON[found.outcome]);
}

/** Our own record or that of a rival: either is judged before success (MWP-ADM-006c). */
function validateAppend(verified: Verified, appended: AdmissionAppend): Admission {
  return appended.outcome === 'committed' || appended.outcome === 'existing'
    ? validateAdmissionRecord(verified, appended)
    : admissionFailure(APPEND_REASON[appended.outcome]);
}

function admissionFailure(reason: AdmissionReason): TrustFailure {
  return trustFailure('admission', reason);
}
