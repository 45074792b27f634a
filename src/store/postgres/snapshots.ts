// Signed Group Snapshots on the hosted store. Sibling of sqlite/snapshots.ts.
import { pageLimit } from '../bounded-reads.ts';
import { admissionToRecord, snapshotFromRecord, snapshotToRecord, type SnapshotRecord } from '../evidence-records.ts';
import type { AdmissionRow, Reader, SnapshotRow } from '../port.ts';
import { StoreFault } from '../port.ts';
import type { PostgresConnections } from './connections.ts';
import { admissions, groupSnapshots } from './schema.ts';
import type { Row, Value } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const COLUMNS = columnsOf(groupSnapshots);
const valuesOf = (columns: string) => columns.replace('organization_id', '$1');
/** Of two at the same time, the second waits for the first and then inserts neither. */
const RECORD = `WITH recorded AS (
    INSERT INTO mwp.group_snapshots (${COLUMNS})
    SELECT ${valuesOf(COLUMNS)} FROM json_populate_record(NULL::mwp.group_snapshots, $2::json)
    ON CONFLICT (organization_id, group_id, position) DO NOTHING RETURNING 1)
  INSERT INTO mwp.admissions (${columnsOf(admissions)})
  SELECT ${valuesOf(columnsOf(admissions))} FROM json_populate_record(NULL::mwp.admissions, $3::json)
  WHERE EXISTS (SELECT FROM recorded) RETURNING 1 AS recorded`;
const LATEST = `SELECT ${COLUMNS} FROM mwp.group_snapshots
  WHERE organization_id = $1 AND group_id = $2 ORDER BY position DESC LIMIT 1`;
const BY_ID = `SELECT ${COLUMNS} FROM mwp.group_snapshots
  WHERE organization_id = $1 AND snapshot_id = $2 AND snapshot_id >= ''`;
const AFTER = `SELECT ${COLUMNS} FROM mwp.group_snapshots
  WHERE organization_id = $1 AND group_id = $2 AND position > $3::bigint ORDER BY position LIMIT $4::bigint`;

export function recordSnapshot(
  connections: PostgresConnections,
  organizationId: string,
  snapshot: SnapshotRow,
  admission: AdmissionRow,
): Promise<SnapshotRow> {
  const records = [snapshotToRecord(snapshot), admissionToRecord(admission)];
  return connections.write(organizationId, [], async (transaction) => {
    const written = await transaction.query(RECORD, [organizationId, ...records]);
    if (written.length === 1) {
      await transaction.commit();
      return snapshot;
    }
    const { groupId, position } = snapshot;
    const [first] = await snapshotReader(transaction, organizationId).snapshots(groupId, position - 1, 1);
    if (first?.position !== position) throw new StoreFault('conflict', 'a snapshot was refused, and there is none');
    return first;
  });
}

type SnapshotReads = Pick<Reader, 'latestSnapshot' | 'snapshot' | 'snapshots'>;

export function snapshotReader(transaction: Transaction, organizationId: string): SnapshotReads {
  const all = async (text: string, values: Value[]) =>
    (await transaction.query<Row & SnapshotRecord>(text, [organizationId, ...values])).map(snapshotFromRecord);
  return {
    latestSnapshot: async (groupId) => (await all(LATEST, [groupId]))[0],
    snapshot: async (groupId, snapshotId) => (await all(BY_ID, [snapshotId])).find((row) => row.groupId === groupId),
    snapshots: (groupId, afterPosition, limit) => all(AFTER, [groupId, afterPosition, pageLimit(limit)]),
  };
}
