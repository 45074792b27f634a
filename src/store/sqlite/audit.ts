// The protected audit record of one Organization on the local store: bounded by number and by age.
import { DEFAULT_POLICY } from '../../domain/policy.ts';
import type { RefusalRange } from '../../domain/group-record.ts';
import type { AuditRecord, RangeRecord } from '../audit-records.ts';
import { auditFromRecord, auditToRecord, rangeFromRecord } from '../audit-records.ts';
import type { AuditEntry, AuditRow } from '../port.ts';
import { AUDIT_EXPIRED_AT_ONCE, AUDIT_MAXIMUM, AUDIT_TIDIED_EVERY } from '../port.ts';
import type { SqliteConnection } from './connection.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';

/** A number that was sealed is not given again. */
const LAST = tenantStatement(
  'last audit id',
  `SELECT max(coalesce((SELECT max(id) FROM audit WHERE organization_id = ?1), 0),
     coalesce((SELECT max(last_id) FROM sealed_audits WHERE organization_id = ?1), 0)) AS id`,
);
const INSERT = insertStatement('audit', [
  'id',
  'recorded_at',
  'stage',
  'reason',
  'code',
  'signing_hash',
  'actor_type',
  'actor_id',
  'action_id',
  'group_id',
  'key_id',
  'received_hash',
  'document_kind',
  'document_path',
  'document_hash',
  'document_key_id',
  'caller_type',
  'caller_id',
]);
/** Among the oldest only, so that it costs the same whatever the policy says. */
const EXPIRE = tenantStatement(
  'forget expired audit',
  `DELETE FROM audit WHERE organization_id = ?1
     AND id IN (SELECT id FROM audit WHERE organization_id = ?1 ORDER BY id LIMIT ?4)
     AND recorded_at < strftime('%Y-%m-%dT%H:%M:%fZ', ?2, '-' || coalesce((
       SELECT json_extract(document, '$.auditRetentionDays') FROM policies WHERE organization_id = ?1
       ORDER BY version DESC LIMIT 1), ?3) || ' days')`,
);
const COUNT = tenantStatement('count of audit records', 'SELECT count(*) AS n FROM audit WHERE organization_id = ?1');
/** Decision 22: the oldest of what there is most of, by who brought it and why it was refused. */
const MAKE_ROOM = tenantStatement(
  'make room in the audit',
  `DELETE FROM audit WHERE organization_id = ?1 AND id IN (
     SELECT id FROM (
       SELECT id, row_number() OVER (PARTITION BY caller_type, caller_id, stage, code ORDER BY id DESC) AS place
       FROM audit WHERE organization_id = ?1) AS numbered
     ORDER BY place DESC, id LIMIT ?2)`,
);
const PAGE = tenantStatement(
  'audit page',
  'SELECT * FROM audit WHERE organization_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3',
);
const GROUP_PAGE = tenantStatement(
  'audit page of a Group',
  'SELECT * FROM audit WHERE organization_id = ?1 AND group_id = ?4 AND id > ?2 ORDER BY id LIMIT ?3',
);
const RANGE = tenantStatement(
  'audit of a Group in numbers',
  `SELECT count(*) AS n, min(id) AS first_id, max(id) AS last_id FROM audit
   WHERE organization_id = ?1 AND group_id = ?2`,
);

export function recordAudit(
  connection: SqliteConnection,
  organizationId: string,
  now: string,
  entry: AuditEntry,
): void {
  const id = (connection.first<{ id: number }>(LAST, organizationId)?.id ?? 0) + 1;
  insertRecord(connection, INSERT, organizationId, { id, recorded_at: now, ...auditToRecord(entry) });
  connection.run(EXPIRE, organizationId, now, DEFAULT_POLICY.auditRetentionDays, AUDIT_EXPIRED_AT_ONCE);
  if (id % AUDIT_TIDIED_EVERY !== 0) return;
  const count = connection.first<{ n: number }>(COUNT, organizationId)?.n ?? 0;
  const excess = count - (AUDIT_MAXIMUM - AUDIT_TIDIED_EVERY);
  if (excess > 0) connection.run(MAKE_ROOM, organizationId, excess);
}

export function auditPage(
  connection: SqliteConnection,
  organizationId: string,
  { afterId, limit, groupId }: { afterId: number; limit: number; groupId?: string | undefined },
): AuditRow[] {
  const rows =
    groupId === undefined
      ? connection.all<AuditRecord>(PAGE, organizationId, afterId, limit)
      : connection.all<AuditRecord>(GROUP_PAGE, organizationId, afterId, limit, groupId);
  return rows.map(auditFromRecord);
}

export function refusalsOf(connection: SqliteConnection, organizationId: string, groupId: string): RefusalRange {
  return rangeFromRecord(connection.first<RangeRecord>(RANGE, organizationId, groupId));
}
