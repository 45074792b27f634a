// The registry of one Organization on the hosted store: who is registered, with which keys, valid how long.
import type { Principal } from '../../protocol/principals.ts';
import type { KeyBindingRow, KeyEvidenceRow, PrincipalRow, RegistryChange, SealedKeyRow } from '../port.ts';
import { StoreFault } from '../port.ts';
import type { BindingRecord, PrincipalRecord, SealedKeyRecord, ValidityRecord } from '../registry-records.ts';
import {
  bindingFromRecord,
  principalFromRecord,
  registryInsertRecords,
  sealedKeyFromRecord,
  validityFromRecord,
} from '../registry-records.ts';
import type { RegisteredFacts, RegistryInserts, RegistryRefusal } from '../registry-rules.ts';
import { factsNeeded, movesRevision, ruleOnRegistryChange } from '../registry-rules.ts';
import { keyBindings, keyValidity, principals as principalsTable, sealedKeys as sealedKeysTable } from './schema.ts';
import type { Row, Statement } from './session.ts';
import { columnsOf, forEachOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const REVISION = 'SELECT registry_revision FROM mwp.organizations WHERE organization_id = $1';
const RAISE_REVISION =
  'UPDATE mwp.organizations SET registry_revision = registry_revision + 1 WHERE organization_id = $1';
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

export async function registryRevision(transaction: Transaction, organizationId: string): Promise<number> {
  const [row] = await transaction.query<{ registry_revision: number }>(REVISION, [organizationId]);
  if (row === undefined) throw new StoreFault('corrupt', 'no such Organization');
  return row.registry_revision;
}

/**
 * Under the exclusive lock of the Organization: the statements that make the change, or why it is refused. The revision
 * is raised when what a verifier sees changes.
 */
export async function registryChange(
  transaction: Transaction,
  organizationId: string,
  change: RegistryChange,
): Promise<{ refused: RegistryRefusal } | { refused?: undefined; statements: Statement[] }> {
  const ruling = ruleOnRegistryChange(change, await factsFor(transaction, organizationId, change));
  if (ruling.refused !== undefined) return ruling;
  return { statements: insertsFor(organizationId, ruling.inserts) };
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
  const [found, byId, byKey, validity] = await Promise.all([
    transaction.query<Row & PrincipalRecord>(REGISTERED, [organizationId, needed.principals]),
    transaction.query<Row & BindingRecord>(BINDINGS, [organizationId, needed.keyIds]),
    transaction.query<Row & BindingRecord>(BINDINGS_BY_KEY, [organizationId, needed.publicKeys]),
    transaction.query<Row & ValidityRecord>(VALIDITY, [organizationId, needed.keyIds]),
  ]);
  return {
    principals: found.map((record) => principalFromRecord(record).principal),
    bindings: [...byId, ...byKey].map(bindingFromRecord),
    validity: validity.map(validityFromRecord),
  };
}

function insertsFor(organizationId: string, inserts: RegistryInserts): Statement[] {
  const records = registryInsertRecords(inserts);
  const statements: Statement[] = [
    { text: INSERT_PRINCIPALS, parameters: [organizationId, records.principals] },
    { text: INSERT_BINDINGS, parameters: [organizationId, records.bindings] },
    { text: INSERT_VALIDITY, parameters: [organizationId, records.validity] },
    { text: INSERT_SEALED_KEYS, parameters: [organizationId, records.sealedKeys] },
  ].filter(({ parameters }) => (parameters[1] as object[]).length > 0);
  if (movesRevision(inserts)) statements.push({ text: RAISE_REVISION, parameters: [organizationId] });
  return statements;
}
