// The protected audit record of one Organization on the hosted store: bounded by number and by age.
import { DEFAULT_POLICY } from '../../domain/policy.ts';
import type { RefusalRange } from '../../domain/group-record.ts';
import type { AuditRecord, RangeRecord } from '../audit-records.ts';
import { auditFromRecord, auditToRecord, rangeFromRecord } from '../audit-records.ts';
import type { AuditEntry, AuditRow } from '../port.ts';
import { AUDIT_EXPIRED_AT_ONCE, AUDIT_MAXIMUM, AUDIT_TIDIED_EVERY } from '../port.ts';
import type { PostgresConnections } from './connections.ts';
import { TAKE_LOCK } from './connections.ts';
import { audit } from './schema.ts';
import type { Row, Statement } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

/** Under the lock of this record, as all that follows. A number that was sealed is not given again. */
const INSERT = `INSERT INTO mwp.audit (${columnsOf(audit)})
  SELECT $1, coalesce(greatest((SELECT max(id) FROM mwp.audit WHERE organization_id = $1),
                     (SELECT max(last_id) FROM mwp.sealed_audits WHERE organization_id = $1)), 0) + 1,
         coalesce($2, mwp.clock_text()), stage, reason, code, signing_hash, actor_type, actor_id, action_id, group_id,
         key_id, received_hash, document_kind, document_path, document_hash, document_key_id, caller_type, caller_id
  FROM json_populate_record(NULL::mwp.audit, $3::json)`;
/** Among the oldest only, so that it costs the same whatever the policy says. */
const EXPIRE = `DELETE FROM mwp.audit WHERE organization_id = $1
  AND id IN (SELECT id FROM mwp.audit WHERE organization_id = $1 ORDER BY id LIMIT $4::bigint)
  AND recorded_at < to_char((coalesce($2, mwp.clock_text())::timestamptz - interval '1 day' * coalesce((
        SELECT (p.document::json ->> 'auditRetentionDays')::int FROM mwp.policies p WHERE p.organization_id = $1
        ORDER BY p.version DESC LIMIT 1), $3::int)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
/**
 * Decision 22: the oldest of what there is most of, by who brought it and why it was refused. A limit of 0 keeps
 * PostgreSQL from looking at all, which is all but one time in AUDIT_TIDIED_EVERY.
 */
const MAKE_ROOM = `DELETE FROM mwp.audit WHERE organization_id = $1 AND id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY caller_type, caller_id, stage, code ORDER BY id DESC) AS place
    FROM mwp.audit WHERE organization_id = $1) AS numbered
  ORDER BY place DESC, id
  LIMIT (SELECT CASE WHEN max(id) % $2::bigint <> 0 THEN 0
    ELSE (SELECT greatest(count(*) - $3::bigint, 0) FROM mwp.audit WHERE organization_id = $1) END
    FROM mwp.audit WHERE organization_id = $1))`;
const PAGE = `SELECT ${columnsOf(audit)} FROM mwp.audit
  WHERE organization_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::bigint`;
const GROUP_PAGE = `SELECT ${columnsOf(audit)} FROM mwp.audit
  WHERE organization_id = $1 AND group_id = $4 AND group_id >= '' AND id > $2::bigint ORDER BY id LIMIT $3::bigint`;
const RANGE = `SELECT count(*) AS n, min(id) AS first_id, max(id) AS last_id FROM mwp.audit
  WHERE organization_id = $1 AND group_id = $2 AND group_id >= ''`;

/** Not worth a sync of the disk: a crash may cost the last entries, never an answer. */
const RELAXED = { text: 'SET LOCAL synchronous_commit = off', parameters: [] };

export async function recordAudit(
  connections: PostgresConnections,
  organizationId: string,
  now: string | undefined,
  entry: AuditEntry,
): Promise<void> {
  const at = now ?? null;
  const days = String(DEFAULT_POLICY.auditRetentionDays);
  const kept = String(AUDIT_MAXIMUM - AUDIT_TIDIED_EVERY);
  await connections.write(organizationId, [RELAXED, auditLock(organizationId)], async (transaction) => {
    await transaction.commit(
      { text: INSERT, parameters: [organizationId, at, auditToRecord(entry)] },
      { text: EXPIRE, parameters: [organizationId, at, days, String(AUDIT_EXPIRED_AT_ONCE)] },
      { text: MAKE_ROOM, parameters: [organizationId, String(AUDIT_TIDIED_EVERY), kept] },
    );
  });
}

export function auditLock(organizationId: string): Statement {
  return { text: TAKE_LOCK, parameters: [`audit ${organizationId}`, 'exclusive'] };
}

export async function auditPage(
  transaction: Transaction,
  organizationId: string,
  { afterId, limit, groupId }: { afterId: number; limit: number; groupId?: string | undefined },
): Promise<AuditRow[]> {
  const parameters = [organizationId, String(afterId), String(limit)];
  const rows =
    groupId === undefined
      ? await transaction.query<Row & AuditRecord>(PAGE, parameters)
      : await transaction.query<Row & AuditRecord>(GROUP_PAGE, [...parameters, groupId]);
  return rows.map(auditFromRecord);
}

export async function refusalsOf(
  transaction: Transaction,
  organizationId: string,
  groupId: string,
): Promise<RefusalRange> {
  return rangeFromRecord((await transaction.query<Row & RangeRecord>(RANGE, [organizationId, groupId]))[0]);
}
