// Sealed audits and the tenant's keys on the hosted store. Sibling of sqlite/sealed-audits.ts.
import { pageLimit } from '../bounded-reads.ts';
import type { AuditRange, SealedAuditReader, SealedAuditStore } from '../port/sealed-audits.ts';
import { StoreFault } from '../port.ts';
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
import { auditLock } from './audit.ts';
import type { PostgresConnections } from './connections.ts';
import { sealedAudits, tenantKeys } from './schema.ts';
import type { Row, Statement } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const SEAL_COLUMNS = columnsOf(sealedAudits);
const INSERT_DUE = `INSERT INTO mwp.sealed_audits (organization_id, group_id, records, first_id, last_id, state)
  SELECT $1, group_id, records, first_id, last_id, 'due' FROM json_populate_record(NULL::mwp.sealed_audits, $2::json)`;
const DUE = `SELECT group_id, records, first_id, last_id FROM mwp.sealed_audits
  WHERE organization_id = $1 AND state = 'due' AND group_id > $2 ORDER BY group_id LIMIT $3::bigint`;
const COMPLETE = `UPDATE mwp.sealed_audits s SET state = 'sealed', records = n.records, first_id = n.first_id,
    last_id = n.last_id, format = n.format, key_version = n.key_version, wrapped_key = n.wrapped_key,
    blob_hash = n.blob_hash, last_recorded_at = n.last_recorded_at, sealed_at = coalesce($3, mwp.clock_text())
  FROM json_populate_record(NULL::mwp.sealed_audits, $2::json) n
  WHERE s.organization_id = $1 AND s.group_id = n.group_id AND s.state = 'due' RETURNING 1 AS sealed`;
const TAKE_AWAY = `DELETE FROM mwp.audit WHERE organization_id = $1 AND group_id = $2 AND group_id >= ''
  AND id >= $3::bigint AND id <= $4::bigint`;
const EXPIRED = `SELECT ${SEAL_COLUMNS} FROM mwp.sealed_audits
  WHERE organization_id = $1 AND state = 'sealed' AND last_recorded_at < $2 AND group_id > $3
  ORDER BY group_id LIMIT $4::bigint`;
const PURGE = `UPDATE mwp.sealed_audits SET state = 'purged', wrapped_key = NULL, blob_hash = NULL,
    purged_at = coalesce($3, mwp.clock_text())
  WHERE organization_id = $1 AND group_id = $2 AND state = $4`;
const SEALED = `SELECT ${SEAL_COLUMNS} FROM mwp.sealed_audits
  WHERE organization_id = $1 AND group_id = $2 AND state = 'sealed'`;
const INSERT_KEY = `INSERT INTO mwp.tenant_keys (organization_id, version, sealed, created_at)
  VALUES ($1, $2::bigint, $3, coalesce($4, mwp.clock_text())) ON CONFLICT (organization_id, version) DO NOTHING`;
const LATEST_KEY = `SELECT ${columnsOf(tenantKeys)} FROM mwp.tenant_keys
  WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`;
const KEY = `SELECT ${columnsOf(tenantKeys)} FROM mwp.tenant_keys WHERE organization_id = $1 AND version = $2::bigint`;

/** With the transition that archives the Group. */
export function dueSealStatement(organizationId: string, range: AuditRange): Statement {
  return { text: INSERT_DUE, parameters: [organizationId, rangeToRecord(range)] };
}

/** `clock` absent: the database's own. */
export function sealedAuditStore(
  connections: PostgresConnections,
  clock: (() => string) | undefined,
): SealedAuditStore {
  const now = () => clock?.() ?? null;
  return {
    due: (organizationId, afterGroupId, limit) =>
      connections.read(organizationId, async (transaction) => {
        const parameters = [organizationId, afterGroupId, String(pageLimit(limit))];
        return (await transaction.query<Row & AuditRangeRecord>(DUE, parameters)).map(auditRangeFromRecord);
      }),
    // No record is written meanwhile, or its number could be one that is taken away here.
    complete: (organizationId, sealed) =>
      connections.write(organizationId, [auditLock(organizationId)], async (transaction) => {
        const { groupId, firstId, lastId } = sealed;
        const done = await transaction.query(COMPLETE, [organizationId, sealedToRecord(sealed), now()]);
        if (done.length === 0) return false;
        const parameters = [organizationId, groupId, String(firstId), String(lastId)];
        await transaction.commit({ text: TAKE_AWAY, parameters });
        return true;
      }),
    expired: (organizationId, before, afterGroupId, limit) =>
      connections.read(organizationId, async (transaction) => {
        const parameters = [organizationId, before, afterGroupId, String(pageLimit(limit))];
        return (await transaction.query<Row & SealedAuditRecord>(EXPIRED, parameters)).map(sealedFromRecord);
      }),
    purge: (organizationId, groupId, found) =>
      connections.write(organizationId, [], async (transaction) => {
        await transaction.commit({ text: PURGE, parameters: [organizationId, groupId, now(), found] });
      }),
    tenantKey: (organizationId, first) =>
      connections.write(organizationId, [], async (transaction) => {
        const latest = async () =>
          (await transaction.query<Row & TenantKeyRecord>(LATEST_KEY, [organizationId])).map(tenantKeyFromRecord)[0];
        const found = await latest();
        if (found) return found;
        // Who comes second waits for the first here, inserts nothing, and then sees what stands.
        await transaction.query(INSERT_KEY, [organizationId, '1', first(1), now()]);
        const stands = await latest();
        if (!stands) throw new StoreFault('conflict', 'a key of the tenant was refused, and there is none');
        await transaction.commit();
        return stands;
      }),
  };
}

export function sealedAuditReader(transaction: Transaction, organizationId: string): SealedAuditReader {
  return {
    sealedAudit: async (groupId) =>
      (await transaction.query<Row & SealedAuditRecord>(SEALED, [organizationId, groupId])).map(sealedFromRecord)[0],
    tenantKey: async (version) =>
      (await transaction.query<Row & TenantKeyRecord>(KEY, [organizationId, String(version)])).map(
        tenantKeyFromRecord,
      )[0],
  };
}
