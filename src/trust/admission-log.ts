// The port of the Admission Log: append-only, keyed by Organization and signing hash, with a typed outcome for all that
// can go wrong (MWP-ADM-003). No boolean of a caller ever stands in for one of them.

import type { FirstAdmissionRecord } from '../protocol/documents/first-admission-record.ts';
import type { Principal } from '../protocol/principals.ts';

/** A record as the log gave it, either its bytes or the value of a column, and the service that the log authenticated. */
export interface LoggedRecord {
  readonly record: { readonly bytes: Uint8Array } | { readonly value: unknown };
  readonly authenticatedService: Principal;
}

/** Why the log cannot be believed. All fail closed (MWP-ADM-003b). */
export type LogFailure = 'unauthenticated' | 'integrity-failed' | 'unavailable' | 'indeterminate';

export type AdmissionLookup =
  | ({ readonly outcome: 'found' } & LoggedRecord)
  /** Proven absence, never a guess. */
  | { readonly outcome: 'absent' }
  | { readonly outcome: LogFailure };

export type AdmissionAppend =
  | ({ readonly outcome: 'committed' | 'existing' } & LoggedRecord)
  /** The logical key stands under another kind, key or Principal, or the record ID is taken. */
  | { readonly outcome: 'conflict' | 'commit-failed' | LogFailure };

export interface AdmissionLookups {
  lookup(organizationId: string, signingHash: string): Promise<AdmissionLookup>;
}

export interface AdmissionLog extends AdmissionLookups {
  /** Atomic: after it, exactly one record stands under the logical key, and that one is answered. */
  appendOrGetExisting(candidate: FirstAdmissionRecord): Promise<AdmissionAppend>;
}

/** What only the accepting service can say. Asked for after proven absence alone (MWP-ADM-006b). */
export interface TrustedContext {
  readonly admissionRecordId: string;
  /** The spelling is kept; capital Z is not needed (MWP-ADM-002). */
  readonly trustedAcceptedAt: string;
  readonly acceptedBy: Principal;
}
