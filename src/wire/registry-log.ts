// The log of a Registry: what each revision brought, chained from the first on, so that no entry can be altered, left out
// or exchanged unnoticed. The tables of principals and keys are its index.
import { canonicalHash } from './canonical.ts';
import { chainNext, chainStart } from './chain.ts';

export interface RegistryEntry {
  /** From 1, without gaps; the first entry of an Organization older than the log stands at a later one. */
  readonly revision: number;
  readonly recordedAt: string;
  /** JSON text of what this revision brought. */
  readonly changes: string;
  /** '' for what was registered before there was a log, and there alone. */
  readonly hash: string;
  /** Of the hash, under a key that the database does not hold; '' where nobody seals. */
  readonly seal: string;
}

/** `previous`: the hash before it; undefined for the first entry. */
export function registryHash(
  organizationId: string,
  previous: string | undefined,
  { revision, recordedAt, changes }: Pick<RegistryEntry, 'revision' | 'recordedAt' | 'changes'>,
): string {
  const start = previous ?? chainStart(organizationId, 'registry');
  return chainNext(start, canonicalHash({ revision, recordedAt, changes }));
}

/** The hash that the next entry continues: its own, or for one without, what it would have been. */
export function chainedHash(organizationId: string, entry: RegistryEntry): string {
  return entry.hash === '' ? registryHash(organizationId, undefined, entry) : entry.hash;
}
