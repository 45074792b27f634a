// The registry of one Organization on the hosted store: who is registered, with which keys, valid how long.
import type { Principal } from '../../protocol/principals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import type {
  KeyBindingRow,
  KeyEvidenceRow,
  OrganizationRow,
  PrincipalRow,
  RegistryChange,
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
import { policyVersion } from './policies.ts';
import {
  keyBindings,
  keyValidity,
  principals as principalsTable,
  registryLog,
  sealedKeys as sealedKeysTable,
} from './schema.ts';
import type { Row, Statement } from './session.ts';
import { CLOCK, columnsOf, forEachOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const REVISION = 'SELECT registry_revision FROM mwp.organizations WHERE organization_id = $1';
const RAISE_REVISION = 'UPDATE mwp.organizations SET registry_revision = $2::bigint WHERE organization_id = $1';
const ENTRIES = `SELECT ${columnsOf(registryLog)} FROM mwp.registry_log
  WHERE organization_id = $1 AND revision > $2::bigint ORDER BY revision LIMIT $3::bigint`;
const LAST_ENTRY = `SELECT ${columnsOf(registryLog)} FROM mwp.registry_log
  WHERE organization_id = $1 ORDER BY revision DESC LIMIT 1`;
const LATEST_EVENT = 'SELECT max(last_event_at) AS latest FROM mwp.streams WHERE organization_id = $1';
const INSERT_ENTRY = `INSERT INTO mwp.registry_log (organization_id, revision, recorded_at, changes, hash, seal)
  SELECT $1, revision, recorded_at, changes, hash, seal FROM json_populate_record(NULL::mwp.registry_log, $2::json)`;
const REGISTERED = `SELECT found.* FROM json_to_recordset($2::json) AS wanted(type text, id text)
  CROSS JOIN LATERAL (
    SELECT ${columnsOf(principalsTable)} FROM mwp.principals
    WHERE organization_id = $1 AND principal_type = wanted.type AND principal_id = wanted.id OFFSET 0
  ) AS found`;
const PRINCIPALS = `SELECT ${columnsOf(principalsTable)} FROM mwp.principals
  WHERE organization_id = $1 AND (principal_type, principal_id) > ($2, $3)
  ORDER BY principal_type, principal_id LIMIT $4::bigint`;
const BINDINGS_OF = `SELECT ${columnsOf(keyBindings)} FROM mwp.key_bindings
  WHERE organization_id = $1 AND principal_type = $2 AND principal_id = $3 AND principal_id >= '' ORDER BY key_id`;
const BINDINGS = forEachOf(
  '$2',
  `SELECT ${columnsOf(keyBindings)} FROM mwp.key_bindings WHERE organization_id = $1 AND key_id = wanted.id`,
);
const BINDINGS_BY_KEY = forEachOf(
  '$2',
  `SELECT ${columnsOf(keyBindings)} FROM mwp.key_bindings WHERE organization_id = $1 AND public_key = wanted.id AND public_key >= ''`,
);
const VALIDITY = `${forEachOf('$2', `SELECT ${columnsOf(keyValidity)} FROM mwp.key_validity WHERE organization_id = $1 AND key_id = wanted.id`)}
  ORDER BY key_id, sequence`;
const SEALED_KEYS = `SELECT ${columnsOf(sealedKeysTable)} FROM mwp.sealed_keys WHERE organization_id = $1 ORDER BY key_id`;

const INSERT_PRINCIPALS = `INSERT INTO mwp.principals
  SELECT $1, principal_type, principal_id, display_name
  FROM json_populate_recordset(NULL::mwp.principals, $2::json)`;
const INSERT_BINDINGS = `INSERT INTO mwp.key_bindings
  SELECT $1, key_id, principal_type, principal_id, algorithm, public_key, valid_from
  FROM json_populate_recordset(NULL::mwp.key_bindings, $2::json)`;
const INSERT_VALIDITY = `INSERT INTO mwp.key_validity
  SELECT $1, key_id, sequence, recorded_at, valid_until, revoked_at
  FROM json_populate_recordset(NULL::mwp.key_validity, $2::json)`;
const INSERT_SEALED_KEYS = `INSERT INTO mwp.sealed_keys
  SELECT $1, key_id, principal_type, principal_id, sealed
  FROM json_populate_recordset(NULL::mwp.sealed_keys, $2::json)`;
const INSERT_POLICIES = `INSERT INTO mwp.policies (organization_id, version, document)
  SELECT $1, version, document FROM json_to_recordset($2::json) AS added(version bigint, document text)`;

export async function registryRevision(transaction: Transaction, organizationId: string): Promise<number> {
  const [row] = await transaction.query<{ registry_revision: number }>(REVISION, [organizationId]);
  if (row === undefined) throw new StoreFault('corrupt', 'no such Organization');
  return row.registry_revision;
}

export interface RegistryWrite {
  /** Absent: the database's own clock. */
  recordedAt?: string | undefined;
  seal: SealRegistry | undefined;
  /** Of a new one. */
  organization?: OrganizationRow;
}

/**
 * Under the exclusive lock of the Organization: the statements that make the change, or why it is refused. A change that is
 * one raises the revision and gets an entry in the log.
 */
export async function registryChange(
  transaction: Transaction,
  organizationId: string,
  change: RegistryChange,
  { recordedAt, seal, organization }: RegistryWrite,
): Promise<{ refused: RegistryRefusal } | { refused?: undefined; statements: Statement[] }> {
  const [facts, [last], [clock], [events]] = await Promise.all([
    factsFor(transaction, organizationId, change),
    transaction.query<Row & RegistryEntryRecord>(LAST_ENTRY, [organizationId]),
    transaction.query<{ now: string }>(CLOCK, []),
    change.takesEffectAt === undefined
      ? []
      : transaction.query<{ latest: string | null }>(LATEST_EVENT, [organizationId]),
  ]);
  const now = recordedAt ?? clock?.now ?? '';
  const latest = events?.latest;
  const latestMoment = latest && compareTimestamps(latest, now) > 0 ? latest : now;
  const ruling = ruleOnRegistryChange(change, { ...facts, latestMoment });
  if (ruling.refused !== undefined) return ruling;
  const { inserts } = ruling;
  const statements = insertsFor(organizationId, inserts);
  if (!movesRevision(inserts)) return { statements };
  const entry = nextEntry({
    organizationId,
    recordedAt: now,
    last: last && registryEntryFromRecord(last),
    inserts,
    seal,
    ...(organization && { organization }),
  });
  statements.push({ text: INSERT_ENTRY, parameters: [organizationId, registryEntryToRecord(entry)] });
  statements.push({ text: RAISE_REVISION, parameters: [organizationId, String(entry.revision)] });
  return { statements };
}

export async function registrySince(
  transaction: Transaction,
  organizationId: string,
  revision: number,
): Promise<RegistrySlice> {
  const parameters = [organizationId, String(revision), String(REGISTRY_SLICE_MAXIMUM)];
  const [current, records] = await Promise.all([
    registryRevision(transaction, organizationId),
    transaction.query<Row & RegistryEntryRecord>(ENTRIES, parameters),
  ]);
  return { registryRevision: current, entries: records.map(registryEntryFromRecord) };
}

export async function principals(
  transaction: Transaction,
  organizationId: string,
  afterKey: string,
  limit: number,
): Promise<PrincipalRow[]> {
  const blank = afterKey.indexOf(' ');
  const [type, id] = blank < 0 ? [afterKey, ''] : [afterKey.slice(0, blank), afterKey.slice(blank + 1)];
  const rows = await transaction.query<Row & PrincipalRecord>(PRINCIPALS, [organizationId, type, id, String(limit)]);
  return rows.map(principalFromRecord);
}

export async function bindings(
  transaction: Transaction,
  organizationId: string,
  principal: Principal,
): Promise<KeyBindingRow[]> {
  const parameters = [organizationId, principal.type, principal.id];
  return (await transaction.query<Row & BindingRecord>(BINDINGS_OF, parameters)).map(bindingFromRecord);
}

export async function keyEvidence(
  transaction: Transaction,
  organizationId: string,
  keyIds: string[],
): Promise<Map<string, KeyEvidenceRow>> {
  const [revision, found, validity] = await Promise.all([
    registryRevision(transaction, organizationId),
    transaction.query<Row & BindingRecord>(BINDINGS, [organizationId, keyIds]),
    transaction.query<Row & ValidityRecord>(VALIDITY, [organizationId, keyIds]),
  ]);
  const bound = new Map(found.map((record) => [record.key_id, bindingFromRecord(record)]));
  return new Map(
    keyIds.map((keyId) => {
      const binding = bound.get(keyId);
      const records = validity.filter((record) => record.key_id === keyId).map(validityFromRecord);
      return [keyId, { registryRevision: revision, ...(binding === undefined ? {} : { binding }), validity: records }];
    }),
  );
}

export async function sealedKeys(transaction: Transaction, organizationId: string): Promise<SealedKeyRow[]> {
  return (await transaction.query<Row & SealedKeyRecord>(SEALED_KEYS, [organizationId])).map(sealedKeyFromRecord);
}

async function factsFor(
  transaction: Transaction,
  organizationId: string,
  change: RegistryChange,
): Promise<RegisteredFacts> {
  const needed = factsNeeded(change);
  const [found, byId, byKey, validity, version] = await Promise.all([
    transaction.query<Row & PrincipalRecord>(REGISTERED, [organizationId, needed.principals]),
    transaction.query<Row & BindingRecord>(BINDINGS, [organizationId, needed.keyIds]),
    transaction.query<Row & BindingRecord>(BINDINGS_BY_KEY, [organizationId, needed.publicKeys]),
    transaction.query<Row & ValidityRecord>(VALIDITY, [organizationId, needed.keyIds]),
    change.policy ? policyVersion(transaction, organizationId) : 0,
  ]);
  return {
    policyVersion: version,
    principals: found.map((record) => principalFromRecord(record).principal),
    bindings: [...byId, ...byKey].map(bindingFromRecord),
    validity: validity.map(validityFromRecord),
  };
}

function insertsFor(organizationId: string, inserts: RegistryInserts): Statement[] {
  const records = registryInsertRecords(inserts);
  return [
    { text: INSERT_PRINCIPALS, parameters: [organizationId, records.principals] },
    { text: INSERT_BINDINGS, parameters: [organizationId, records.bindings] },
    { text: INSERT_VALIDITY, parameters: [organizationId, records.validity] },
    { text: INSERT_SEALED_KEYS, parameters: [organizationId, records.sealedKeys] },
    { text: INSERT_POLICIES, parameters: [organizationId, records.policies] },
  ].filter(({ parameters }) => (parameters[1] as object[]).length > 0);
}
