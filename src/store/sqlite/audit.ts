// The protected audit record of one Organization on the local store: a ring of the latest entries.
import type { AuditRow } from '../port.ts';
import { AUDIT_MAXIMUM } from '../port.ts';
import type { AuditRecord } from '../registry-records.ts';
import { auditFromRecord, auditToRecord } from '../registry-records.ts';
import type { SqliteConnection } from './connection.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const LAST = tenantStatement('last audit id', 'SELECT max(id) AS id FROM audit WHERE organization_id = ?1');
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
]);
const FORGET = tenantStatement('forget old audit', 'DELETE FROM audit WHERE organization_id = ?1 AND id <= ?2');
const PAGE = tenantStatement(
  'audit page',
  'SELECT * FROM audit WHERE organization_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3',
);

/** Ids have no gaps, so the ring is full when an id is `AUDIT_MAXIMUM` behind. */
export function recordAudit(
  connection: SqliteConnection,
  organizationId: string,
  now: string,
  entry: Omit<AuditRow, 'id' | 'recordedAt'>,
): void {
  const id = (connection.first<{ id: number | null }>(LAST, organizationId)?.id ?? 0) + 1;
  insertRecord(connection, INSERT, organizationId, { id, recorded_at: now, ...auditToRecord(entry) });
  connection.run(FORGET, organizationId, id - AUDIT_MAXIMUM);
}

export function auditPage(
  connection: SqliteConnection,
  organizationId: string,
  afterId: number,
  limit: number,
): AuditRow[] {
  return connection.all<AuditRecord>(PAGE, organizationId, afterId, limit).map(auditFromRecord);
}
