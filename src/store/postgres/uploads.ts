// Who put which content, on the hosted store. Sibling of sqlite/uploads.ts.
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
import { TAKE_LOCK, type PostgresConnections } from './connections.ts';
import type { Row, Statement, Value } from './session.ts';
import type { Transaction } from './transaction.ts';

const NOW = `coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;
const OLDEST = `${NOW} - ${UPLOAD_KEPT_MILLISECONDS}`;
const OWN = `organization_id = $1 AND principal_type = $3 AND principal_id = $4`;
/** The holder of an Artifact is its content hash. The state comes first: a published row is never asked about again. */
const HAS_OWN_MANIFEST = `state = 'complete' AND principal_type = 'agent' AND EXISTS (
  SELECT FROM mwp.aggregates a WHERE a.organization_id = $1 AND a.holder = u.hash AND a.holder IS NOT NULL
    AND a.kind = 'artifact' AND a.document -> 'producer' ->> 'agentId' = u.principal_id)`;

const FIND = `SELECT hash, principal_type, principal_id, size, state FROM mwp.uploads
  WHERE organization_id = $1 AND hash = $2 AND principal_type = $3 AND principal_id = $4`;
const TOTALS = `SELECT count(*) AS count, coalesce(sum(size), 0)::bigint AS bytes FROM mwp.uploads
  WHERE ${OWN} AND state <> 'published' AND recorded_at_millis > ${OLDEST} AND hash <> $5`;
const MARK_OWN = `UPDATE mwp.uploads u SET state = 'published' WHERE ${OWN} AND ${HAS_OWN_MANIFEST}
  AND state <> 'published' AND recorded_at_millis > ${OLDEST}`;
const RESERVE = `INSERT INTO mwp.uploads AS u
    (organization_id, hash, principal_type, principal_id, size, recorded_at_millis, state)
  VALUES ($1, $5, $3, $4, $6::bigint, ${NOW}, 'reserved')
  ON CONFLICT (organization_id, hash, principal_type, principal_id) DO UPDATE SET
    size = CASE u.state WHEN 'reserved' THEN greatest(u.size, excluded.size) ELSE u.size END,
    recorded_at_millis = excluded.recorded_at_millis`;
const COMPLETE = `INSERT INTO mwp.uploads AS u
    (organization_id, hash, principal_type, principal_id, size, recorded_at_millis, state)
  VALUES ($1, $5, $3, $4, $6::bigint, ${NOW}, 'complete')
  ON CONFLICT (organization_id, hash, principal_type, principal_id) DO UPDATE SET
    size = excluded.size, state = CASE u.state WHEN 'published' THEN u.state ELSE 'complete' END`;
const RELEASE = `DELETE FROM mwp.uploads
  WHERE organization_id = $1 AND hash = $2 AND principal_type = $3 AND principal_id = $4 AND state = 'reserved'`;

const EXPIRED = `(SELECT e.ctid FROM mwp.uploads e WHERE e.organization_id = $1 AND e.state <> 'published'
  AND e.recorded_at_millis <= ${OLDEST} ORDER BY e.recorded_at_millis LIMIT ${UPLOADS_SWEPT_AT_ONCE})`;
const MARK_EXPIRED = `UPDATE mwp.uploads u SET state = 'published' WHERE organization_id = $1 AND u.ctid = ANY (ARRAY${EXPIRED})
  AND ${HAS_OWN_MANIFEST}`;
const FORGET = `DELETE FROM mwp.uploads u WHERE organization_id = $1 AND u.ctid = ANY (ARRAY${EXPIRED})
  AND NOT (${HAS_OWN_MANIFEST}) RETURNING hash`;
const UNNAMED = `SELECT wanted.hash FROM (SELECT DISTINCT value AS hash FROM json_array_elements_text($2::json)) AS wanted
  WHERE NOT EXISTS (SELECT FROM mwp.uploads u WHERE u.organization_id = $1 AND u.hash = wanted.hash)
    AND NOT EXISTS (SELECT FROM mwp.aggregates a WHERE a.organization_id = $1 AND a.holder = wanted.hash
                    AND a.holder IS NOT NULL AND a.kind = 'artifact')`;

/** `clock` absent: the database's own, in milliseconds. `rows`: the blobs of this database. */
export function uploadStore(
  connections: PostgresConnections,
  clock: (() => number) | undefined,
  rows: BlobRows,
): UploadStore {
  const now = () => (clock ? String(clock()) : null);
  return {
    reserve: (organizationId, upload, quota) =>
      connections.write(organizationId, [lockOf(organizationId)], (transaction) =>
        reserve(transaction, organizationId, { upload, quota, now: now() }),
      ),
    complete: (organizationId, upload) =>
      connections.write(organizationId, [lockOf(organizationId)], async (transaction) => {
        const before = await findUpload(transaction, organizationId, upload);
        const { principal, hash, size } = upload;
        const parameters = [organizationId, now(), principal.type, principal.id, hash, String(size)];
        await transaction.commit({ text: COMPLETE, parameters });
        return before === undefined || before.state === 'reserved' ? 'first' : 'again';
      }),
    release: (organizationId, { principal, hash }) =>
      connections.write(organizationId, [], async (transaction) => {
        const parameters = [organizationId, hash, principal.type, principal.id];
        await transaction.commit({ text: RELEASE, parameters });
      }),
    sweep: async (organizationId, blobs) => {
      const within = removalWithin(blobs, rows);
      await connections.write(organizationId, [lockOf(organizationId)], (transaction) =>
        sweep(transaction, organizationId, now(), async (hashes) => {
          if (within) return transaction.run(hashes.map((hash) => within({ organizationId, hash })));
          for (const hash of hashes) await blobs.remove(organizationId, hash);
        }),
      );
      if (blobs instanceof DatabaseBlobs) await clearUnnamed(blobs, organizationId);
    },
  };
}

export async function findUpload(
  transaction: Transaction,
  organizationId: string,
  { principal, hash }: UploadKey,
): Promise<Upload | undefined> {
  const parameters = [organizationId, hash, principal.type, principal.id];
  const [record] = await transaction.query<Row & UploadRecord>(FIND, parameters);
  return record && uploadFromRecord(record);
}

/** All that reserve, complete or sweep in one Organization come one after the other. */
function lockOf(organizationId: string): Statement {
  return { text: TAKE_LOCK, parameters: [`uploads ${organizationId}`, 'exclusive'] };
}

async function reserve(
  transaction: Transaction,
  organizationId: string,
  { upload, quota, now }: { upload: UploadKey & { size: number }; quota: UploadQuota; now: Value },
): Promise<Reservation> {
  const { principal, hash, size } = upload;
  const own: Value[] = [organizationId, now, principal.type, principal.id];
  const totals = async () => (await transaction.query<Row & UploadTotals>(TOTALS, [...own, hash]))[0] as UploadTotals;
  const before = await findUpload(transaction, organizationId, upload);
  if (before === undefined || before.state === 'reserved') {
    let ruling = rulingOver(await totals(), size, quota);
    if (!ruling.reserved) {
      await transaction.query(MARK_OWN, own);
      ruling = rulingOver(await totals(), size, quota);
    }
    if (!ruling.reserved) {
      await transaction.commit();
      return ruling;
    }
  }
  await transaction.commit({ text: RESERVE, parameters: [...own, hash, String(size)] });
  return { reserved: true };
}

async function sweep(
  transaction: Transaction,
  organizationId: string,
  now: Value,
  remove: (hashes: string[]) => Promise<void>,
): Promise<void> {
  await transaction.query(MARK_EXPIRED, [organizationId, now]);
  const forgotten = await transaction.query<{ hash: string }>(FORGET, [organizationId, now]);
  if (forgotten.length > 0) {
    const hashes = forgotten.map(({ hash }) => hash);
    const unnamed = await transaction.query<{ hash: string }>(UNNAMED, [organizationId, hashes]);
    // Before the commit: who ends here does it again, and whoever would store one of them waits for this lock.
    await remove(unnamed.map(({ hash }) => hash));
  }
  await transaction.commit();
}
