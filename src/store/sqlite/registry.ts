// The registry of one Organization on the local store: who is registered, with which keys, valid how long.
import type { Principal } from '../../protocol/principals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import type {
  KeyBindingRow,
  KeyEvidenceRow,
  OrganizationRow,
  PrincipalRow,
  RegistryChange,
  RegistryEntryRow,
  RegistrySlice,
  SealedKeyRow,
  SealRegistry,
} from '../port.ts';
import { REGISTRY_SLICE_MAXIMUM, StoreFault } from '../port.ts';
import { nextEntry } from '../registry-log.ts';
import type {
  BindingRecord,
  PrincipalRecord,
  RegistryEntryRecord,
  SealedKeyRecord,
  ValidityRecord,
} from '../registry-records.ts';
import {
  bindingFromRecord,
  principalFromRecord,
  registryEntryFromRecord,
  registryEntryToRecord,
  registryInsertRecords,
  sealedKeyFromRecord,
  validityFromRecord,
} from '../registry-records.ts';
import type { RegisteredFacts, RegistryInserts, RegistryRefusal } from '../registry-rules.ts';
import { factsNeeded, movesRevision, ruleOnRegistryChange } from '../registry-rules.ts';
import type { SqliteConnection } from './connection.ts';
import { insertRecord } from './inserting.ts';
import { INSERT_POLICY, policyVersion } from './policies.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const BINDING = 'key_id, principal_type, principal_id, algorithm, public_key, valid_from';

const REVISION = tenantStatement(
  'registry revision',
  'SELECT registry_revision FROM organizations WHERE organization_id = ?1',
);
const RAISE_REVISION = tenantStatement(
  'raise the registry revision',
  'UPDATE organizations SET registry_revision = ?2 WHERE organization_id = ?1',
);
const PRINCIPAL = tenantStatement(
  'principal',
  `SELECT principal_type, principal_id, display_name FROM principals
   WHERE organization_id = ?1 AND principal_type = ?2 AND principal_id = ?3`,
);
const PRINCIPALS = tenantStatement(
  'principals',
  `SELECT principal_type, principal_id, display_name FROM principals
   WHERE organization_id = ?1 AND (principal_type, principal_id) > (?2, ?3)
   ORDER BY principal_type, principal_id LIMIT ?4`,
);
const BINDINGS_OF = tenantStatement(
  'bindings of a principal',
  `SELECT ${BINDING} FROM key_bindings
   WHERE organization_id = ?1 AND principal_type = ?2 AND principal_id = ?3 ORDER BY key_id`,
);
const BINDING_BY_ID = tenantStatement(
  'binding by key id',
  `SELECT ${BINDING} FROM key_bindings WHERE organization_id = ?1 AND key_id = ?2`,
);
const BINDING_BY_KEY = tenantStatement(
  'binding by public key',
  `SELECT ${BINDING} FROM key_bindings WHERE organization_id = ?1 AND public_key = ?2`,
);
const VALIDITY = tenantStatement(
  'validity of a key',
  `SELECT key_id, sequence, recorded_at, valid_until, revoked_at FROM key_validity
   WHERE organization_id = ?1 AND key_id = ?2 ORDER BY sequence`,
);
const SEALED_KEYS = tenantStatement(
  'sealed keys',
  'SELECT key_id, principal_type, principal_id, sealed FROM sealed_keys WHERE organization_id = ?1 ORDER BY key_id',
);
const ENTRIES = tenantStatement(
  'entries of the registry log',
  `SELECT revision, recorded_at, changes, hash, seal FROM registry_log
   WHERE organization_id = ?1 AND revision > ?2 ORDER BY revision LIMIT ?3`,
);
const LAST_ENTRY = tenantStatement(
  'last entry of the registry log',
  `SELECT revision, recorded_at, changes, hash, seal FROM registry_log
   WHERE organization_id = ?1 ORDER BY revision DESC LIMIT 1`,
);
const LATEST_EVENT = tenantStatement(
  'moment of the latest Event',
  'SELECT max(last_event_at) AS latest FROM streams WHERE organization_id = ?1',
);
const INSERT_ENTRY = insertStatement('registry_log', ['revision', 'recorded_at', 'changes', 'hash', 'seal']);
const INSERT_PRINCIPAL = insertStatement('principals', ['principal_type', 'principal_id', 'display_name']);
const INSERT_BINDING = insertStatement('key_bindings', BINDING.split(', '));
const INSERT_VALIDITY = insertStatement('key_validity', [
  'key_id',
  'sequence',
  'recorded_at',
  'valid_until',
  'revoked_at',
]);
const INSERT_SEALED_KEY = insertStatement('sealed_keys', ['key_id', 'principal_type', 'principal_id', 'sealed']);

export function registryRevision(connection: SqliteConnection, organizationId: string): number {
  const row = connection.first<{ registry_revision: number }>(REVISION, organizationId);
  if (row === undefined) throw new StoreFault('corrupt', 'no such Organization');
  return row.registry_revision;
}

export interface RegistryWrite {
  recordedAt: string;
  seal: SealRegistry | undefined;
  /** Of a new one. */
  organization?: OrganizationRow;
}

/** Inside a write transaction. A change that is one raises the revision and gets an entry in the log. */
export function changeRegistry(
  connection: SqliteConnection,
  organizationId: string,
  change: RegistryChange,
  { recordedAt, seal, organization }: RegistryWrite,
): RegistryRefusal | undefined {
  const ruling = ruleOnRegistryChange(change, {
    ...factsFor(connection, organizationId, change),
    ...(change.takesEffectAt !== undefined && { latestMoment: latestMoment(connection, organizationId, recordedAt) }),
  });
  if (ruling.refused !== undefined) return ruling.refused;
  const { inserts } = ruling;
  insertRegistry(connection, organizationId, inserts);
  if (!movesRevision(inserts)) return undefined;
  const last = lastEntry(connection, organizationId);
  const parts = { organizationId, recordedAt, last, inserts, seal, ...(organization && { organization }) };
  const entry = nextEntry(parts);
  insertRecord(connection, INSERT_ENTRY, organizationId, registryEntryToRecord(entry));
  connection.run(RAISE_REVISION, organizationId, entry.revision);
  return undefined;
}

function latestMoment(connection: SqliteConnection, organizationId: string, now: string): string {
  const latest = connection.first<{ latest: string | null }>(LATEST_EVENT, organizationId)?.latest;
  return latest && compareTimestamps(latest, now) > 0 ? latest : now;
}

function lastEntry(connection: SqliteConnection, organizationId: string): RegistryEntryRow | undefined {
  const record = connection.first<RegistryEntryRecord>(LAST_ENTRY, organizationId);
  return record && registryEntryFromRecord(record);
}

export function registrySince(connection: SqliteConnection, organizationId: string, revision: number): RegistrySlice {
  const records = connection.all<RegistryEntryRecord>(ENTRIES, organizationId, revision, REGISTRY_SLICE_MAXIMUM);
  return {
    registryRevision: registryRevision(connection, organizationId),
    entries: records.map(registryEntryFromRecord),
  };
}

export function principals(
  connection: SqliteConnection,
  organizationId: string,
  afterKey: string,
  limit: number,
): PrincipalRow[] {
  const blank = afterKey.indexOf(' ');
  const [type, id] = blank < 0 ? [afterKey, ''] : [afterKey.slice(0, blank), afterKey.slice(blank + 1)];
  return connection.all<PrincipalRecord>(PRINCIPALS, organizationId, type, id, limit).map(principalFromRecord);
}

export function bindings(connection: SqliteConnection, organizationId: string, principal: Principal): KeyBindingRow[] {
  return connection
    .all<BindingRecord>(BINDINGS_OF, organizationId, principal.type, principal.id)
    .map(bindingFromRecord);
}

export function keyEvidence(
  connection: SqliteConnection,
  organizationId: string,
  keyIds: string[],
): Map<string, KeyEvidenceRow> {
  const revision = registryRevision(connection, organizationId);
  return new Map(
    keyIds.map((keyId) => {
      const binding = connection.first<BindingRecord>(BINDING_BY_ID, organizationId, keyId);
      const validity = connection.all<ValidityRecord>(VALIDITY, organizationId, keyId).map(validityFromRecord);
      const found = binding === undefined ? {} : { binding: bindingFromRecord(binding) };
      return [keyId, { registryRevision: revision, ...found, validity }];
    }),
  );
}

export function sealedKeys(connection: SqliteConnection, organizationId: string): SealedKeyRow[] {
  return connection.all<SealedKeyRecord>(SEALED_KEYS, organizationId).map(sealedKeyFromRecord);
}

function factsFor(connection: SqliteConnection, organizationId: string, change: RegistryChange): RegisteredFacts {
  const needed = factsNeeded(change);
  const found = needed.principals.flatMap(({ type, id }) =>
    connection.all<PrincipalRecord>(PRINCIPAL, organizationId, type, id),
  );
  const byId = needed.keyIds.flatMap((id) => connection.all<BindingRecord>(BINDING_BY_ID, organizationId, id));
  const byKey = needed.publicKeys.flatMap((key) => connection.all<BindingRecord>(BINDING_BY_KEY, organizationId, key));
  const validity = [...new Set(needed.keyIds)].flatMap((id) =>
    connection.all<ValidityRecord>(VALIDITY, organizationId, id),
  );
  return {
    principals: found.map((record) => principalFromRecord(record).principal),
    bindings: [...byId, ...byKey].map(bindingFromRecord),
    validity: validity.map(validityFromRecord),
    policyVersion: change.policy ? policyVersion(connection, organizationId) : 0,
  };
}

function insertRegistry(connection: SqliteConnection, organizationId: string, inserts: RegistryInserts): void {
  const records = registryInsertRecords(inserts);
  for (const record of records.principals) insertRecord(connection, INSERT_PRINCIPAL, organizationId, record);
  for (const record of records.bindings) insertRecord(connection, INSERT_BINDING, organizationId, record);
  for (const record of records.validity) insertRecord(connection, INSERT_VALIDITY, organizationId, record);
  for (const record of records.sealedKeys) insertRecord(connection, INSERT_SEALED_KEY, organizationId, record);
  for (const record of records.policies) insertRecord(connection, INSERT_POLICY, organizationId, record);
}
