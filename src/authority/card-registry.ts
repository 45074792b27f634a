// What an accepted Agent Card adds to the Registry: the keys that it does not hold yet, after the strict point check that
// the domain cannot do (MWP-SDV-004, -005). What is known was read before the locks; the revision proves it current.
import type { RegistryDraft } from '../domain/decider.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { earlierTimestamp } from '../protocol/timestamps.ts';
import { sameIdentity, validateBinding } from '../trust/bindings.ts';
import { keyInterval, type KeyBinding } from '../trust/evidence.ts';
import type { KeyEvidenceRow, KeyValidityRow, Transition } from '../store/port.ts';

export type RegistryAddition =
  { ok: true; registry: NonNullable<Transition['registry']> } | { ok: false; refusal: Refusal };

export function registryAddition(
  draft: RegistryDraft,
  known: ReadonlyMap<string, KeyEvidenceRow>,
  now: string,
): RegistryAddition {
  const registry: NonNullable<Transition['registry']> = {
    principals: draft.principals,
    bindings: [],
    validity: [],
  };
  for (const declared of draft.bindings) {
    const candidate: KeyBinding = { ...declared, algorithm: 'Ed25519', history: [] };
    const fault = validateBinding(candidate);
    if (fault !== undefined) return refused(`a public key of the Card cannot be bound: ${fault}`);
    const held = known.get(declared.keyId)?.binding;
    if (!held) registry.bindings.push({ ...declared, algorithm: 'Ed25519' });
    else if (!sameIdentity(candidate, { ...held, history: [] }))
      return refused('a key id of the Card is bound otherwise');
  }
  for (const record of draft.validity) {
    const fresh = earlierEnds(record, known.get(record.keyId), now);
    if (fresh) registry.validity.push(fresh);
  }
  return { ok: true, registry };
}

/** Ends can be set or brought forward only; a Card that repeats or postpones one changes nothing (MWP-SDV-012b). */
function earlierEnds(
  { keyId, validUntil, revokedAt }: RegistryDraft['validity'][number],
  known: KeyEvidenceRow | undefined,
  recordedAt: string,
): KeyValidityRow | undefined {
  const held = known?.binding && keyInterval({ ...known.binding, history: known.validity });
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
