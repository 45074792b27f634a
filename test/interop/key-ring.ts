// Every key of the Organization with its whole history, as the official codec wants to be told. Grows as keys are replaced and
// end; whoever holds the snapshot sees that.
import { now } from './drafts.ts';
import type { KeyBinding, KeyRegistrySnapshot, KeyValidityRecord } from './sdk.ts';

export type KeyEnd = Pick<KeyValidityRecord, 'validUntil' | 'revokedAt'>;

export class KeyRing {
  readonly snapshot: KeyRegistrySnapshot;
  private readonly bindings: KeyBinding[] = [];

  constructor(organizationId: string) {
    this.snapshot = { completeness: 'organization-wide', organizationId, bindings: this.bindings };
  }

  add(binding: KeyBinding): void {
    this.bindings.push(binding);
  }

  end(keyId: string, end: KeyEnd): void {
    const at = this.bindings.findIndex((binding) => binding.keyId === keyId);
    const binding = this.bindings[at];
    if (binding === undefined) throw new Error(`the ring has no key ${keyId}`);
    this.bindings[at] = withEnd(binding, { recordedAt: now(), ...end });
  }
}

export function withEnd(binding: KeyBinding, end: Omit<KeyValidityRecord, 'sequence'>): KeyBinding {
  const { validityHistory } = binding;
  return { ...binding, validityHistory: [...validityHistory, { sequence: validityHistory.length + 1, ...end }] };
}

/** The same Registry, had this one key been bound or ended otherwise. */
export function withKey(
  known: KeyRegistrySnapshot,
  keyId: string,
  change: (binding: KeyBinding) => KeyBinding,
): KeyRegistrySnapshot {
  const bindings = known.bindings.map((binding) => (binding.keyId === keyId ? change(binding) : binding));
  return { ...known, bindings };
}
