// May this change of the registry stand beside what is registered? Both adapters ask here, under the exclusive lock of
// the Organization; the constraints of the tables say the same once more. Pure; knows no SQL.
import type { Principal } from '../protocol/principals.ts';
import { principalKey, samePrincipal } from '../protocol/principals.ts';
import { compareTimestamps, earlierTimestamp } from '../protocol/timestamps.ts';
import type {
  KeyBindingRow,
  KeyValidityRow,
  PrincipalRow,
  RegistryChange,
  RegistryOutcome,
  SealedKeyRow,
  Transition,
} from './port.ts';
import { StoreFault } from './port.ts';

export type RegistryRefusal = Extract<RegistryOutcome, { outcome: 'refused' }>['reason'];

/** What stands in the registry already, as far as a change touches it. */
export interface RegisteredFacts {
  /** Of the principals that the change names. */
  principals: Principal[];
  /** With a key id or a public key that the change names. */
  bindings: KeyBindingRow[];
  /** All records of the keys that the change names. */
  validity: KeyValidityRow[];
  /** Of the policy that rules; 0: there is none. */
  policyVersion: number;
  /** The clock, or the latest Event of the Organization when that is ahead; asked for only when the change takes effect later. */
  latestMoment?: string;
}

export interface RegistryInserts {
  principals: PrincipalRow[];
  bindings: KeyBindingRow[];
  validity: (KeyValidityRow & { sequence: number })[];
  sealedKeys: SealedKeyRow[];
  /** `document`: JSON text. */
  policies: { version: number; document: string }[];
}

/** As an Agent Card brings it: every version repeats its Agent, and one that is there already is left as it is. */
export interface CardChange extends RegistryChange {
  leaveKnownPrincipals?: true;
}

export function asCardChange(registry: NonNullable<Transition['registry']>): CardChange {
  return { ...registry, leaveKnownPrincipals: true };
}

export type RegistryRuling = { refused: RegistryRefusal } | { refused?: undefined; inserts: RegistryInserts };

/** What must be loaded before the ruling. */
export function factsNeeded(change: RegistryChange): {
  principals: Principal[];
  keyIds: string[];
  publicKeys: string[];
} {
  const bindings = change.bindings ?? [];
  return {
    principals: [
      ...(change.principals ?? []).map(({ principal }) => principal),
      ...bindings.map(({ principal }) => principal),
    ],
    keyIds: [...bindings, ...(change.validity ?? []), ...(change.sealedKeys ?? [])].map(({ keyId }) => keyId),
    publicKeys: bindings.map(({ publicKey }) => publicKey),
  };
}

export function ruleOnRegistryChange(change: CardChange, facts: RegisteredFacts): RegistryRuling {
  const { takesEffectAt } = change;
  if (takesEffectAt !== undefined) {
    const { latestMoment } = facts;
    if (latestMoment === undefined) throw new Error('the latest moment was not asked for');
    if (compareTimestamps(takesEffectAt, latestMoment) <= 0) return { refused: 'moment_passed' };
  }
  const inserts: RegistryInserts = { principals: [], bindings: [], validity: [], sealedKeys: [], policies: [] };
  const principals = new Set(facts.principals.map(principalKey));
  for (const row of change.principals ?? []) {
    if (principals.has(principalKey(row.principal))) {
      if (change.leaveKnownPrincipals) continue;
      return { refused: 'principal_exists' };
    }
    principals.add(principalKey(row.principal));
    inserts.principals.push(row);
  }

  const bindings = [...facts.bindings];
  for (const row of change.bindings ?? []) {
    if (!principals.has(principalKey(row.principal))) return { refused: 'principal_unknown' };
    const sameId = bindings.find(({ keyId }) => keyId === row.keyId);
    if (sameId && sameBinding(sameId, row)) continue;
    if (sameId) return { refused: 'key_id_bound' };
    if (bindings.some(({ publicKey }) => publicKey === row.publicKey)) return { refused: 'public_key_bound' };
    bindings.push(row);
    inserts.bindings.push(row);
  }

  const validity: KeyValidityRow[] = [...facts.validity];
  for (const row of change.validity ?? []) {
    if (!bindings.some(({ keyId }) => keyId === row.keyId)) return { refused: 'key_unknown' };
    const history = validity.filter(({ keyId }) => keyId === row.keyId);
    if (!bringsForward(row, history)) return { refused: 'validity_not_earlier' };
    const record = { ...row, recordedAt: inOrder(row.recordedAt, history), sequence: history.length + 1 };
    validity.push(record);
    inserts.validity.push(record);
  }

  for (const row of change.sealedKeys ?? []) {
    if (!bindings.some(({ keyId }) => keyId === row.keyId)) return { refused: 'key_unknown' };
    inserts.sealedKeys.push(row);
  }
  const { policy } = change;
  if (policy) {
    if (facts.policyVersion >= policy.version) throw new StoreFault('conflict', 'the policy moved on');
    inserts.policies.push({ version: policy.version, document: JSON.stringify(policy) });
  }
  return { inserts };
}

/** Is it a new revision? Private keys are nobody's to see, so they are not in the log. */
export function movesRevision({ principals, bindings, validity, policies }: RegistryInserts): boolean {
  return principals.length + bindings.length + validity.length + policies.length > 0;
}

/** A history stands in the order of its times (MWP-SDV-012a), also where the clock was set back between two records. */
function inOrder(recordedAt: string, history: readonly KeyValidityRow[]): string {
  return history.reduce((latest, record) => {
    return compareTimestamps(record.recordedAt, latest) > 0 ? record.recordedAt : latest;
  }, recordedAt);
}

/** MWP-SDV-004a: repeating the identical declaration is the same binding, `validFrom` included (MWP-SDV-012a). */
function sameBinding(a: KeyBindingRow, b: KeyBindingRow): boolean {
  return a.publicKey === b.publicKey && samePrincipal(a.principal, b.principal) && a.validFrom === b.validFrom;
}

/** MWP-SDV-012b: neither end moves back, and at least one is new or comes earlier. */
function bringsForward(row: KeyValidityRow, history: KeyValidityRow[]): boolean {
  const validUntil = steps(row.validUntil, earliest(history.map((record) => record.validUntil)));
  const revokedAt = steps(row.revokedAt, earliest(history.map((record) => record.revokedAt)));
  return validUntil !== 'back' && revokedAt !== 'back' && (validUntil === 'forward' || revokedAt === 'forward');
}

function steps(next: string | undefined, ruling: string | undefined): 'forward' | 'still' | 'back' {
  if (next === undefined) return 'still';
  const order = ruling === undefined ? -1 : compareTimestamps(next, ruling);
  if (order === 0) return 'still';
  return order < 0 ? 'forward' : 'back';
}

function earliest(times: (string | undefined)[]): string | undefined {
  return times.reduce((a, b) => (a === undefined || b === undefined ? (a ?? b) : earlierTimestamp(a, b)), undefined);
}
