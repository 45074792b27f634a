// The rules of key bindings, checked once, when one is registered or its status changes (MWP-SDV-004, -005, -012).
// Uniqueness across the Organization is a constraint of the store; these functions name the fault.

import { isUri } from '../protocol/documents/uri.ts';
import { samePrincipal, type Principal } from '../protocol/principals.ts';
import { compareTimestamps, isTimestamp } from '../protocol/timestamps.ts';
import { importPublicKey, type PublicKeyFault } from './ed25519.ts';
import { keyInterval, type KeyBinding, type KeyValidityRecord } from './evidence.ts';

export type BindingFault =
  | 'key-id-not-a-uri'
  | 'principal-not-valid'
  | 'algorithm-not-ed25519'
  | 'valid-from-malformed'
  | `public-key-${PublicKeyFault}`
  | HistoryFault;

export type HistoryFault =
  | 'history-not-contiguous'
  | 'history-time-malformed'
  | 'history-not-append-ordered'
  | 'valid-until-postponed'
  | 'revoked-at-postponed';

/** Everything that one binding shows by itself, its whole history included. */
export function validateBinding(binding: KeyBinding): BindingFault | undefined {
  const fault = identityFault(binding);
  if (fault !== undefined) return fault;
  // The point check stands before anything that compares keys (MWP-SDV-005b).
  const key = importPublicKey(binding.publicKey);
  if (!key.ok) return `public-key-${key.fault}`;
  return historyFault(binding);
}

/**
 * All but the point of the key and the history: for a binding whose point was checked when it was registered and that is
 * shown not to have changed since. Nothing verifies under a key that is not checked once more in this process.
 */
export function identityFault(binding: KeyBinding): BindingFault | undefined {
  if (!isUri(binding.keyId)) return 'key-id-not-a-uri';
  if (!isPrincipal(binding.principal)) return 'principal-not-valid';
  if ((binding.algorithm as string) !== 'Ed25519') return 'algorithm-not-ed25519';
  return isTimestamp(binding.validFrom) ? undefined : 'valid-from-malformed';
}

/** What the Organization already holds under the candidate's key ID and under its public key, if anything. */
export interface KnownBindings {
  readonly underKeyId: KeyBinding | undefined;
  readonly underPublicKey: KeyBinding | undefined;
}

export type NewBinding =
  | { readonly outcome: 'new' }
  /** A repeated declaration of an identical binding is the same binding (MWP-SDV-004a). */
  | { readonly outcome: 'same'; readonly binding: KeyBinding }
  | { readonly outcome: 'refused'; readonly fault: BindingFault | 'key-id-reused' | 'public-key-already-bound' };

export function validateNewBinding(candidate: KeyBinding, known: KnownBindings): NewBinding {
  const fault = validateBinding(candidate);
  if (fault !== undefined) return { outcome: 'refused', fault };
  const { underKeyId, underPublicKey } = known;
  if (underKeyId !== undefined) {
    if (sameIdentity(candidate, underKeyId)) return { outcome: 'same', binding: underKeyId };
    return { outcome: 'refused', fault: 'key-id-reused' };
  }
  if (underPublicKey !== undefined) return { outcome: 'refused', fault: 'public-key-already-bound' };
  return { outcome: 'new' };
}

/** May this status record be appended? Its sequence must be the next one. */
export function validateHistoryAppend(binding: KeyBinding, record: KeyValidityRecord): HistoryFault | undefined {
  const last = binding.history.at(-1);
  if (record.sequence !== (last?.sequence ?? 0) + 1) return 'history-not-contiguous';
  for (const time of [record.recordedAt, record.validUntil, record.revokedAt]) {
    if (time !== undefined && !isTimestamp(time)) return 'history-time-malformed';
  }
  if (last !== undefined && compareTimestamps(record.recordedAt, last.recordedAt) < 0) {
    return 'history-not-append-ordered';
  }
  const { validUntil, revokedAt } = keyInterval(binding);
  if (isLater(record.validUntil, validUntil)) return 'valid-until-postponed';
  if (isLater(record.revokedAt, revokedAt)) return 'revoked-at-postponed';
  return undefined;
}

/** The immutable part. `validFrom` is compared as an instant; its first spelling is kept. */
export function sameIdentity(a: KeyBinding, b: KeyBinding): boolean {
  return (
    a.keyId === b.keyId &&
    samePrincipal(a.principal, b.principal) &&
    a.algorithm === b.algorithm &&
    a.publicKey === b.publicKey &&
    compareTimestamps(a.validFrom, b.validFrom) === 0
  );
}

function historyFault(binding: KeyBinding): HistoryFault | undefined {
  // Linear: each record is judged against a binding that holds only the ends so far.
  let soFar: KeyBinding = { ...binding, history: [] };
  for (const record of binding.history) {
    const fault = validateHistoryAppend(soFar, record);
    if (fault !== undefined) return fault;
    const ends = keyInterval({ ...binding, history: [...soFar.history, record] });
    soFar = {
      ...binding,
      history: [
        {
          sequence: record.sequence,
          recordedAt: record.recordedAt,
          ...(ends.validUntil === undefined ? {} : { validUntil: ends.validUntil }),
          ...(ends.revokedAt === undefined ? {} : { revokedAt: ends.revokedAt }),
        },
      ],
    };
  }
  return undefined;
}

function isLater(next: string | undefined, current: string | undefined): boolean {
  return next !== undefined && current !== undefined && compareTimestamps(next, current) > 0;
}

function isPrincipal(principal: Principal): boolean {
  return ['agent', 'human', 'service'].includes(principal.type) && isUri(principal.id);
}
