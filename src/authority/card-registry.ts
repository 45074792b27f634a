// What an accepted Agent Card adds to the Registry: the keys that it does not hold yet, after the strict point check that
// the domain cannot do (MWP-SDV-004, -005). The Registry is at the revision that stands under the locks.
import type { RegistryDraft } from '../domain/decider.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { earlierTimestamp } from '../protocol/timestamps.ts';
import { validateNewBinding } from '../trust/bindings.ts';
import { keyInterval, type KeyBinding } from '../trust/evidence.ts';
import type { Registry } from '../trust/registry.ts';
import type { KeyValidityRow, Transition } from '../store/port.ts';

export type KnownKeys = Pick<Registry, 'binding' | 'bindingOfPublicKey'>;

export type RegistryAddition =
  { ok: true; registry: NonNullable<Transition['registry']> } | { ok: false; refusal: Refusal };

export function registryAddition(draft: RegistryDraft, known: KnownKeys, now: string): RegistryAddition {
  const registry: NonNullable<Transition['registry']> = {
    principals: draft.principals,
    bindings: [],
    validity: [],
  };
  for (const declared of draft.bindings) {
    const candidate: KeyBinding = { ...declared, algorithm: 'Ed25519', history: [] };
    const verdict = validateNewBinding(candidate, {
      underKeyId: known.binding(declared.keyId),
      underPublicKey: known.bindingOfPublicKey(declared.publicKey),
    });
    if (verdict.outcome === 'refused') return refused(`a public key of the Card cannot be bound: ${verdict.fault}`);
    if (verdict.outcome === 'new') registry.bindings.push({ ...declared, algorithm: 'Ed25519' });
  }
  for (const record of draft.validity) {
    const fresh = earlierEnds(record, known.binding(record.keyId), now);
    if (fresh) registry.validity.push(fresh);
  }
  return { ok: true, registry };
}

/** Ends can be set or brought forward only; a Card that repeats or postpones one changes nothing (MWP-SDV-012b). */
function earlierEnds(
  { keyId, validUntil, revokedAt }: RegistryDraft['validity'][number],
  known: KeyBinding | undefined,
  recordedAt: string,
): KeyValidityRow | undefined {
  const held = known && keyInterval(known);
  const row: KeyValidityRow = { keyId, recordedAt };
  if (validUntil !== undefined && isEarlier(validUntil, held?.validUntil)) row.validUntil = validUntil;
  if (revokedAt !== undefined && isEarlier(revokedAt, held?.revokedAt)) row.revokedAt = revokedAt;
  return row.validUntil === undefined && row.revokedAt === undefined ? undefined : row;
}

function isEarlier(next: string, held: string | undefined): boolean {
  return held === undefined || (next !== held && earlierTimestamp(next, held) === next);
}

function refused(message: string): RegistryAddition {
  return { ok: false, refusal: refuse('INVALID_COMMAND', message) };
}
