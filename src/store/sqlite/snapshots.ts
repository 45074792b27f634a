// Signed Group Snapshots on the local store. Sibling of postgres/snapshots.ts.
import { pageLimit } from '../bounded-reads.ts';
import { admissionToRecord, snapshotFromRecord, snapshotToRecord, type SnapshotRecord } from '../evidence-records.ts';
import type { AdmissionRow, Reader, SnapshotRow } from '../port.ts';
import { StoreFault } from '../port.ts';
import type { SqliteConnection } from './connection.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';
import { INSERT_ADMISSION } from './writing.ts';

const COLUMNS =
  'group_id position snapshot_id through_sequence signing_hash artifact_hash state_hash packs created_at body';
const INSERT = insertStatement(
  'group_snapshots',
  COLUMNS.split(' '),
  'ON CONFLICT (organization_id, group_id, position) DO NOTHING',
);
const LATEST = tenantStatement(
  'latest snapshot of a Group',
  'SELECT * FROM group_snapshots WHERE organization_id = ?1 AND group_id = ?2 ORDER BY position DESC LIMIT 1',
);
const BY_ID = tenantStatement(
  'snapshot',
  'SELECT * FROM group_snapshots WHERE organization_id = ?1 AND snapshot_id = ?2',
);
const AFTER = tenantStatement(
  'snapshots of a Group',
  `SELECT * FROM group_snapshots WHERE organization_id = ?1 AND group_id = ?2 AND position > ?3
   ORDER BY position LIMIT ?4`,
);

/** Runs inside a transaction that somebody else commits. */
export function recordSnapshot(
  connection: SqliteConnection,
  organizationId: string,
  snapshot: SnapshotRow,
  admission: AdmissionRow,
): SnapshotRow {
  if (insertRecord(connection, INSERT, organizationId, snapshotToRecord(snapshot)) === 1) {
    insertRecord(connection, INSERT_ADMISSION, organizationId, admissionToRecord(admission));
    return snapshot;
  }
  const { groupId, position } = snapshot;
  const first = connection.first<SnapshotRecord>(AFTER, organizationId, groupId, position - 1, 1);
  if (first?.position !== position) throw new StoreFault('conflict', 'a snapshot was refused, and there is none');
  return snapshotFromRecord(first);
}

type SnapshotReads = Pick<Reader, 'latestSnapshot' | 'snapshot' | 'snapshots'>;

export function snapshotReader(connection: SqliteConnection, organizationId: string): SnapshotReads {
  return {
    latestSnapshot: async (groupId) =>
      connection.all<SnapshotRecord>(LATEST, organizationId, groupId).map(snapshotFromRecord)[0],
    snapshot: async (groupId, snapshotId) =>
      connection
        .all<SnapshotRecord>(BY_ID, organizationId, snapshotId)
        .map(snapshotFromRecord)
        .find((found) => found.groupId === groupId),
    snapshots: async (groupId, afterPosition, limit) =>
      connection
        .all<SnapshotRecord>(AFTER, organizationId, groupId, afterPosition, pageLimit(limit))
        .map(snapshotFromRecord),
  };
}
