// The next entry of a Registry's log, made under the exclusive lock of the Organization. Both adapters write what this
// gives. Knows no SQL.
import { canonicalText } from '../wire/canonical.ts';
import { chainedHash, registryHash } from '../wire/registry-log.ts';
import type { OrganizationRow, RegistryChanges, RegistryEntryRow, SealRegistry } from './port.ts';
import { StoreFault } from './port.ts';
import { type RegistryInserts } from './registry-rules.ts';

export interface EntryParts {
  organizationId: string;
  recordedAt: string;
  /** The entry that it follows. */
  last: RegistryEntryRow | undefined;
  inserts: RegistryInserts;
  /** Of a new Organization: its first entry says who its services are. */
  organization?: OrganizationRow;
  /** Absent: nobody seals, as in a database of tests. */
  seal: SealRegistry | undefined;
}

export function nextEntry(parts: EntryParts): RegistryEntryRow {
  const { organizationId, recordedAt, last, inserts, organization, seal } = parts;
  if (!last && !organization) throw new StoreFault('corrupt', 'the Registry has no log');
  const { principals, bindings, validity, policies } = inserts;
  const changes: RegistryChanges = {
    ...(organization && { organization }),
    ...(principals.length > 0 && { principals }),
    ...(bindings.length > 0 && { bindings }),
    ...(validity.length > 0 && { validity }),
    ...(policies.length > 0 && { policies }),
  };
  const entry = { revision: (last?.revision ?? 0) + 1, recordedAt, changes: canonicalText(changes) };
  const hash = registryHash(organizationId, last && chainedHash(organizationId, last), entry);
  return { ...entry, hash, seal: seal?.(organizationId, entry.revision, hash) ?? '' };
}
