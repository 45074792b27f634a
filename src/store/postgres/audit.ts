// The protected audit record of one Organization on the hosted store: a ring of the latest entries.
import type { AuditRow } from '../port.ts';
import { AUDIT_MAXIMUM } from '../port.ts';
import type { AuditRecord } from '../registry-records.ts';
import { auditFromRecord, auditToRecord } from '../registry-records.ts';
import type { PostgresConnections } from './connections.ts';
import { TAKE_LOCK } from './connections.ts';
import { audit } from './schema.ts';
import type { Row } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

/** Ids have no gaps, so the ring is full when an id is `AUDIT_MAXIMUM` behind. Under the lock of this ring. */
const INSERT = `INSERT INTO mwp.audit
  SELECT $1, coalesce((SELECT max(id) FROM mwp.audit WHERE organization_id = $1), 0) + 1,
         coalesce($2, mwp.clock_text()), stage, reason, code, signing_hash, actor_type, actor_id, action_id, group_id
  FROM json_populate_record(NULL::mwp.audit, $3::json)`;
const FORGET = `DELETE FROM mwp.audit WHERE organization_id = $1
  AND id <= (SELECT max(id) FROM mwp.audit WHERE organization_id = $1) - $2::bigint`;
const PAGE = `SELECT ${columnsOf(audit)} FROM mwp.audit
  WHERE organization_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::bigint`;

/** Not worth a sync of the disk: a crash may cost the last entries, never an answer. */
const RELAXED = { text: 'SET LOCAL synchronous_commit = off', parameters: [] };

export async function recordAudit(
  connections: PostgresConnections,
  organizationId: string,
  now: string | undefined,
  entry: Omit<AuditRow, 'id' | 'recordedAt'>,
): Promise<void> {
  const lock = { text: TAKE_LOCK, parameters: [`audit ${organizationId}`, 'exclusive'] };
  await connections.write(organizationId, [RELAXED, lock], async (transaction) => {
    await transaction.commit(
      { text: INSERT, parameters: [organizationId, now ?? null, auditToRecord(entry)] },
      { text: FORGET, parameters: [organizationId, String(AUDIT_MAXIMUM)] },
    );
  });
}

export async function auditPage(
  transaction: Transaction,
  organizationId: string,
  afterId: number,
  limit: number,
): Promise<AuditRow[]> {
  const parameters = [organizationId, String(afterId), String(limit)];
  return (await transaction.query<Row & AuditRecord>(PAGE, parameters)).map(auditFromRecord);
}
