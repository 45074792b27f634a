// Sealed audits and the tenant's keys on the local store. Sibling of postgres/sealed-audits.ts.
import { pageLimit } from '../bounded-reads.ts';
import type { AuditRange, SealedAuditReader, SealedAuditStore, TenantKeyRow } from '../port/sealed-audits.ts';
import {
  auditRangeFromRecord,
  rangeToRecord,
  sealedFromRecord,
  sealedToRecord,
  tenantKeyFromRecord,
  type AuditRangeRecord,
  type SealedAuditRecord,
  type TenantKeyRecord,
} from '../sealed-audit-records.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const INSERT_DUE = insertStatement('sealed_audits', ['group_id', 'records', 'first_id', 'last_id', 'state']);
const DUE = tenantStatement(
  'audits to seal',
  `SELECT group_id, records, first_id, last_id FROM sealed_audits
   WHERE organization_id = ?1 AND state = 'due' AND group_id > ?2 ORDER BY group_id LIMIT ?3`,
);
const COMPLETE = tenantStatement(
  'seal an audit',
  `UPDATE sealed_audits SET state = 'sealed', records = ?3, first_id = ?4, last_id = ?5, format = ?6, key_version = ?7,
     wrapped_key = ?8, blob_hash = ?9, last_recorded_at = ?10, sealed_at = ?11
   WHERE organization_id = ?1 AND group_id = ?2 AND state = 'due'`,
);
const TAKE_AWAY = tenantStatement(
  'take sealed audit away',
  'DELETE FROM audit WHERE organization_id = ?1 AND group_id = ?2 AND id >= ?3 AND id <= ?4',
);
const EXPIRED = tenantStatement(
  'sealed audits past a time',
  `SELECT * FROM sealed_audits WHERE organization_id = ?1 AND state = 'sealed' AND last_recorded_at < ?2
     AND +group_id > ?3 ORDER BY +group_id LIMIT ?4`,
);
const PURGE = tenantStatement(
  'purge a sealed audit',
  `UPDATE sealed_audits SET state = 'purged', wrapped_key = NULL, blob_hash = NULL, purged_at = ?3
   WHERE organization_id = ?1 AND group_id = ?2 AND state = ?4`,
);
const SEALED = tenantStatement(
  'sealed audit',
  `SELECT * FROM sealed_audits WHERE organization_id = ?1 AND group_id = ?2 AND state = 'sealed'`,
);
const INSERT_KEY = insertStatement('tenant_keys', ['version', 'sealed', 'created_at']);
const LATEST_KEY = tenantStatement(
  'latest key of the tenant',
  'SELECT * FROM tenant_keys WHERE organization_id = ?1 ORDER BY version DESC LIMIT 1',
);
const KEY = tenantStatement(
  'key of the tenant',
  'SELECT * FROM tenant_keys WHERE organization_id = ?1 AND version = ?2',
);

/** With the transition that archives the Group. */
export function insertDueSeal(connection: SqliteConnection, organizationId: string, range: AuditRange): void {
  insertRecord(connection, INSERT_DUE, organizationId, { ...rangeToRecord(range), state: 'due' });
}

export function sealedAuditStore(connections: SqliteConnections, clock: () => string): SealedAuditStore {
  return {
    due: (organizationId, afterGroupId, limit) =>
      connections.read(organizationId, async (connection) =>
        connection.all<AuditRangeRecord>(DUE, organizationId, afterGroupId, pageLimit(limit)).map(auditRangeFromRecord),
      ),
    complete: (organizationId, sealed) =>
      connections.write(organizationId, async (connection) => {
        const record = sealedToRecord(sealed);
        const { group_id, records, first_id, last_id, format, key_version, wrapped_key, blob_hash } = record;
        const range = [group_id, records, first_id, last_id];
        const seal = [format, key_version, wrapped_key, blob_hash, record.last_recorded_at, clock()];
        const result = connection.run(COMPLETE, organizationId, ...range, ...seal) === 1;
        if (result) connection.run(TAKE_AWAY, organizationId, group_id, first_id, last_id);
        return { commit: result, result };
      }),
    expired: (organizationId, before, afterGroupId, limit) =>
      connections.read(organizationId, async (connection) =>
        connection
          .all<SealedAuditRecord>(EXPIRED, organizationId, before, afterGroupId, pageLimit(limit))
          .map(sealedFromRecord),
      ),
    purge: (organizationId, groupId, found) =>
      connections.write(organizationId, async (connection) => {
        connection.run(PURGE, organizationId, groupId, clock(), found);
        return { commit: true, result: undefined };
      }),
    tenantKey: (organizationId, first) =>
      connections.write<TenantKeyRow>(organizationId, async (connection) => {
        const found = connection.first<TenantKeyRecord>(LATEST_KEY, organizationId);
        if (found) return { commit: false, result: tenantKeyFromRecord(found) };
        const made = { version: 1, sealed: first(1) };
        insertRecord(connection, INSERT_KEY, organizationId, { ...made, created_at: clock() });
        return { commit: true, result: made };
      }),
  };
}

export function sealedAuditReader(connection: SqliteConnection, organizationId: string): SealedAuditReader {
  return {
    sealedAudit: async (groupId) =>
      connection.all<SealedAuditRecord>(SEALED, organizationId, groupId).map(sealedFromRecord)[0],
    tenantKey: async (version) =>
      connection.all<TenantKeyRecord>(KEY, organizationId, version).map(tenantKeyFromRecord)[0],
  };
}
