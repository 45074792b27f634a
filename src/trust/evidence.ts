// What the Registry vouches for about one key (stage 4), and the interval in which a key counts. The port reports what
// it cannot establish; no such answer is ever read as "absent" (MWP-SDV-010a, -011).

import type { Principal } from '../protocol/principals.ts';
import {
  compareInstants,
  compareTimestamps,
  earlierTimestamp,
  isTimestamp,
  parseTimestamp,
} from '../protocol/timestamps.ts';

/** One append-only status record. A boundary may be added or brought forward, never cleared or postponed. */
export interface KeyValidityRecord {
  readonly sequence: number;
  readonly recordedAt: string;
  readonly validUntil?: string;
  readonly revokedAt?: string;
}

/** For ever one Principal, one algorithm, one public key (MWP-SDV-004a). */
export interface KeyBinding {
  readonly keyId: string;
  readonly principal: Principal;
  readonly algorithm: 'Ed25519';
  readonly publicKey: string;
  readonly validFrom: string;
  readonly history: readonly KeyValidityRecord[];
}

export type KeyEvidence =
  | {
      /** Complete for the Organization at one coherent revision; every binding and history in it is validated. */
      readonly outcome: 'established';
      readonly organizationId: string;
      readonly registryRevision: number;
      /** `historical` may serve a replay, never a first admission (MWP-ADM-006a). Not said means current. */
      readonly applicability?: 'current' | 'historical';
      /** undefined: proven absent. */
      readonly binding: KeyBinding | undefined;
    }
  | { readonly outcome: 'unavailable' | 'incomplete' | 'stale' | 'corrupt'; readonly reason: string };

export interface RegistryEvidence {
  /**
   * The key ID is routing only: it excuses no gap in the evidence (MWP-SDV-009). What it answers is judged, and a failure
   * is final; it throws only where nothing at all can be decided, and then nothing is.
   */
  resolve(organizationId: string, keyId: string): Promise<KeyEvidence>;
}

export interface KeyInterval {
  readonly validFrom: string;
  readonly validUntil: string | undefined;
  readonly revokedAt: string | undefined;
}

/** The earliest end ever recorded rules (MWP-SDV-012b). */
export function keyInterval(binding: KeyBinding): KeyInterval {
  let validUntil: string | undefined;
  let revokedAt: string | undefined;
  for (const record of binding.history) {
    validUntil = earliest(validUntil, record.validUntil);
    revokedAt = earliest(revokedAt, record.revokedAt);
  }
  return { validFrom: binding.validFrom, validUntil, revokedAt };
}

export type KeyStatus = 'valid' | 'not-yet-valid' | 'expired' | 'revoked' | 'interval-malformed';

/** Half-open, at the given instant and never at the present (MWP-SDV-014). The text has passed the profile. */
export function keyStatusAt(binding: KeyBinding, time: string): KeyStatus {
  const validFrom = parseTimestamp(binding.validFrom);
  // An adapter that broke its promise: stage 4, no throw.
  if (validFrom === undefined || !hasReadableEnds(binding)) return 'interval-malformed';
  const instant = parseTimestamp(time);
  if (instant === undefined) throw new RangeError('a time outside the profile reached the interval of a key');
  if (compareInstants(instant, validFrom) < 0) return 'not-yet-valid';
  if (binding.history.length === 0) return 'valid';
  const { validUntil, revokedAt } = keyInterval(binding);
  if (revokedAt !== undefined && compareTimestamps(time, revokedAt) >= 0) return 'revoked';
  if (validUntil !== undefined && compareTimestamps(time, validUntil) >= 0) return 'expired';
  return 'valid';
}

/** Of several keys of one principal, the one that began last comes first: among those that count it is the one to use. */
export function latestFirst<Key extends Pick<KeyBinding, 'validFrom'>>(keys: readonly Key[]): Key[] {
  return keys.toSorted((a, b) => compareTimestamps(b.validFrom, a.validFrom));
}

function hasReadableEnds(binding: KeyBinding): boolean {
  for (const { validUntil, revokedAt } of binding.history) {
    if (validUntil !== undefined && !isTimestamp(validUntil)) return false;
    if (revokedAt !== undefined && !isTimestamp(revokedAt)) return false;
  }
  return true;
}

function earliest(known: string | undefined, next: string | undefined): string | undefined {
  if (known === undefined || next === undefined) return known ?? next;
  return earlierTimestamp(known, next);
}
