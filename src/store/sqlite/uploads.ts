// Who put which content, on the local store. Sibling of postgres/uploads.ts.
import { clearUnnamed, DatabaseBlobs, type BlobRows } from '../database-blobs.ts';
import {
  UPLOAD_KEPT_MILLISECONDS,
  UPLOADS_SWEPT_AT_ONCE,
  type Reservation,
  type Upload,
  type UploadKey,
  type UploadQuota,
  type UploadStore,
} from '../port/uploads.ts';
import { rulingOver, uploadFromRecord, type UploadRecord, type UploadTotals } from '../upload-records.ts';
import { removalWithin } from './blobs.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { insertStatement, tenantStatement } from './statements.ts';

/** The holder of an Artifact is its content hash. */
const HAS_OWN_MANIFEST = `state = 'complete' AND principal_type = 'agent' AND EXISTS (
  SELECT 1 FROM aggregates a WHERE a.organization_id = ?1 AND a.holder = uploads.hash AND a.holder IS NOT NULL
    AND a.kind = 'artifact' AND json_extract(a.document, '$.producer.agentId') = uploads.principal_id)`;
const COLUMNS = ['hash', 'principal_type', 'principal_id', 'size', 'recorded_at_millis', 'state'];
const KEY = 'ON CONFLICT (organization_id, hash, principal_type, principal_id)';

const FIND = tenantStatement(
  'upload',
  `SELECT hash, principal_type, principal_id, size, state FROM uploads
   WHERE organization_id = ?1 AND hash = ?2 AND principal_type = ?3 AND principal_id = ?4`,
);
const TOTALS = tenantStatement(
  'unpublished uploads of a principal',
  `SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM uploads
   WHERE organization_id = ?1 AND principal_type = ?2 AND principal_id = ?3 AND state <> 'published'
     AND recorded_at_millis > ?4 AND hash <> ?5`,
);
const MARK_OWN = tenantStatement(
  'mark published uploads of a principal',
  `UPDATE uploads SET state = 'published'
   WHERE organization_id = ?1 AND principal_type = ?2 AND principal_id = ?3 AND state <> 'published'
     AND recorded_at_millis > ?4 AND ${HAS_OWN_MANIFEST}`,
);
const RESERVE = insertStatement(
  'uploads',
  COLUMNS,
  `${KEY} DO UPDATE SET size = CASE uploads.state WHEN 'reserved' THEN max(uploads.size, excluded.size) ELSE uploads.size END,
     recorded_at_millis = excluded.recorded_at_millis`,
);
const COMPLETE = insertStatement(
  'uploads',
  COLUMNS,
  `${KEY} DO UPDATE SET size = excluded.size,
     state = CASE uploads.state WHEN 'published' THEN uploads.state ELSE 'complete' END`,
);
const RELEASE = tenantStatement(
  'release an upload',
  `DELETE FROM uploads WHERE organization_id = ?1 AND hash = ?2 AND principal_type = ?3 AND principal_id = ?4
     AND state = 'reserved'`,
);
const EXPIRED = tenantStatement(
  'uploads that are over',
  `SELECT hash, principal_type, principal_id, size, state FROM uploads
   WHERE organization_id = ?1 AND state <> 'published' AND recorded_at_millis <= ?2
   ORDER BY recorded_at_millis LIMIT ?3`,
);
const MARK = tenantStatement(
  'mark a published upload',
  `UPDATE uploads SET state = 'published'
   WHERE organization_id = ?1 AND hash = ?2 AND principal_type = ?3 AND principal_id = ?4 AND ${HAS_OWN_MANIFEST}`,
);
const FORGET = tenantStatement(
  'forget an upload',
  'DELETE FROM uploads WHERE organization_id = ?1 AND hash = ?2 AND principal_type = ?3 AND principal_id = ?4',
);
const UPLOADED = tenantStatement(
  'any upload',
  'SELECT 1 FROM uploads WHERE organization_id = ?1 AND hash = ?2 LIMIT 1',
);
const NAMED = tenantStatement(
  'any manifest of a content',
  `SELECT 1 FROM aggregates WHERE organization_id = ?1 AND holder = ?2 AND holder IS NOT NULL AND kind = 'artifact' LIMIT 1`,
);

/** `clock`: milliseconds. `rows`: the blobs of this database. */
export function uploadStore(connections: SqliteConnections, clock: () => number, rows: BlobRows): UploadStore {
  return {
    reserve: (organizationId, upload, quota) =>
      connections.write(organizationId, async (connection) => ({
        commit: true,
        result: reserve(connection, organizationId, { upload, quota, now: clock() }),
      })),
    complete: (organizationId, upload) =>
      connections.write(organizationId, async (connection) => {
        const before = findUpload(connection, organizationId, upload);
        const { principal, hash, size } = upload;
        connection.run(COMPLETE, organizationId, hash, principal.type, principal.id, size, clock(), 'complete');
        return { commit: true, result: before === undefined || before.state === 'reserved' ? 'first' : 'again' };
      }),
    release: (organizationId, { principal, hash }) =>
      connections.write(organizationId, async (connection) => {
        connection.run(RELEASE, organizationId, hash, principal.type, principal.id);
        return { commit: true, result: undefined };
      }),
    sweep: async (organizationId, blobs) => {
      const within = removalWithin(blobs, rows);
      await connections.write(organizationId, async (connection) => {
        await sweep(connection, organizationId, clock(), async (hash) => {
          if (within) within(connection, { organizationId, hash });
          else await blobs.remove(organizationId, hash);
        });
        return { commit: true, result: undefined };
      });
      if (blobs instanceof DatabaseBlobs) await clearUnnamed(blobs, organizationId);
    },
  };
}

export function findUpload(
  connection: SqliteConnection,
  organizationId: string,
  { principal, hash }: UploadKey,
): Upload | undefined {
  const record = connection.first<UploadRecord>(FIND, organizationId, hash, principal.type, principal.id);
  return record && uploadFromRecord(record);
}

function reserve(
  connection: SqliteConnection,
  organizationId: string,
  { upload, quota, now }: { upload: UploadKey & { size: number }; quota: UploadQuota; now: number },
): Reservation {
  const { principal, hash, size } = upload;
  const own = [principal.type, principal.id, now - UPLOAD_KEPT_MILLISECONDS] as const;
  const totals = () => connection.first<UploadTotals>(TOTALS, organizationId, ...own, hash) as UploadTotals;
  const before = findUpload(connection, organizationId, upload);
  if (before === undefined || before.state === 'reserved') {
    let ruling = rulingOver(totals(), size, quota);
    if (!ruling.reserved) {
      connection.run(MARK_OWN, organizationId, ...own);
      ruling = rulingOver(totals(), size, quota);
    }
    if (!ruling.reserved) return ruling;
  }
  connection.run(RESERVE, organizationId, hash, principal.type, principal.id, size, now, 'reserved');
  return { reserved: true };
}

async function sweep(
  connection: SqliteConnection,
  organizationId: string,
  now: number,
  remove: (hash: string) => Promise<void>,
): Promise<void> {
  const before = now - UPLOAD_KEPT_MILLISECONDS;
  const over = connection.all<UploadRecord>(EXPIRED, organizationId, before, UPLOADS_SWEPT_AT_ONCE);
  const forgotten = new Set<string>();
  for (const { hash, principal_type: type, principal_id: id } of over) {
    if (connection.run(MARK, organizationId, hash, type, id) === 1) continue;
    connection.run(FORGET, organizationId, hash, type, id);
    forgotten.add(hash);
  }
  for (const hash of forgotten) {
    const isNamed = [UPLOADED, NAMED].some(
      (statement) => connection.first(statement, organizationId, hash) !== undefined,
    );
    // Before the commit: who ends here does it again.
    if (!isNamed) await remove(hash);
  }
}
