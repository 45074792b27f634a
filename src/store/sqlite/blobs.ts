// Pieces of blobs and their names, on the local store. Sibling of postgres/blobs.ts.
import {
  DatabaseBlobs,
  incomplete,
  PIECES_CLEARED_AT_ONCE,
  type BlobAddress,
  type BlobRows,
} from '../database-blobs.ts';
import { INCOMING_MAXIMUM_MS, type BlobStore } from '../port/blobs.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const OF_BLOB = 'organization_id = ?1 AND blob_id = ?2';
const AT_ADDRESS = 'organization_id = ?1 AND space = ?2 AND hash = ?3';

const BEGIN = insertStatement('blobs', ['blob_id', 'space', 'size', 'kept_until_millis']);
const APPEND = insertStatement('blob_pieces', ['blob_id', 'byte_offset', 'bytes']);
const DRAFT = tenantStatement('draft of a blob', `SELECT 1 FROM blobs WHERE ${OF_BLOB} AND hash IS NULL`);
const TOTALS = tenantStatement(
  'bytes of a draft',
  `SELECT coalesce(sum(length(bytes)), 0) AS bytes FROM blob_pieces WHERE ${OF_BLOB}`,
);
const UNNAME = tenantStatement(
  'unname a blob',
  `UPDATE blobs SET hash = NULL, kept_until_millis = 0 WHERE ${AT_ADDRESS}`,
);
const NAME = tenantStatement('name a blob', `UPDATE blobs SET hash = ?3, size = ?4 WHERE ${OF_BLOB}`);
const GIVE_UP = tenantStatement(
  'give up a draft',
  `UPDATE blobs SET kept_until_millis = 0 WHERE ${OF_BLOB} AND hash IS NULL`,
);
const HASHES = tenantStatement(
  'addresses of blobs',
  'SELECT hash FROM blobs WHERE organization_id = ?1 AND space = ?2 AND hash IS NOT NULL',
);
const GIVE_UP_ALL = tenantStatement(
  'give up all drafts',
  'UPDATE blobs SET kept_until_millis = 0 WHERE organization_id = ?1 AND space = ?2 AND hash IS NULL',
);
const PIECE = tenantStatement(
  'piece of a blob',
  `SELECT b.size, (SELECT p.bytes FROM blob_pieces p
     WHERE p.organization_id = ?1 AND p.blob_id = b.blob_id AND p.byte_offset = ?4) AS bytes
   FROM blobs b WHERE b.${AT_ADDRESS}`,
);
const SIZE = tenantStatement('size of a blob', `SELECT size FROM blobs WHERE ${AT_ADDRESS}`);
const UNNAMED = tenantStatement(
  'blob that is not kept',
  `SELECT blob_id FROM blobs WHERE organization_id = ?1 AND space = ?2 AND hash IS NULL AND kept_until_millis <= ?3
   ORDER BY kept_until_millis LIMIT 1`,
);
const CLEAR = tenantStatement(
  'clear pieces of a blob',
  `DELETE FROM blob_pieces WHERE ${OF_BLOB} AND byte_offset IN (
     SELECT byte_offset FROM blob_pieces WHERE ${OF_BLOB} ORDER BY byte_offset LIMIT ?3)`,
);
const FORGET = tenantStatement('forget a blob', `DELETE FROM blobs WHERE ${OF_BLOB} AND hash IS NULL`);

/** `clock`: milliseconds. Every write of a draft is relaxed; the sync of the last one, its name, is for all of them. */
export function blobRows(connections: SqliteConnections, clock: () => number): BlobRows {
  return {
    begin: ({ organizationId, space, blobId }) =>
      connections.writeRelaxed(organizationId, (connection) => {
        connection.run(BEGIN, organizationId, blobId, space, 0, clock() + INCOMING_MAXIMUM_MS);
      }),
    append: ({ organizationId, blobId }, byteOffset, bytes) =>
      connections.writeRelaxed(organizationId, (connection) => {
        connection.run(APPEND, organizationId, blobId, byteOffset, bytes);
      }),
    name: ({ organizationId, space, blobId }, { hash, size }) =>
      connections.write(organizationId, async (connection) => {
        const isThere = connection.first(DRAFT, organizationId, blobId) !== undefined;
        const totals = connection.first<{ bytes: number }>(TOTALS, organizationId, blobId);
        if (!isThere || totals?.bytes !== size) throw incomplete();
        connection.run(UNNAME, organizationId, space, hash);
        connection.run(NAME, organizationId, blobId, hash, size);
        return { commit: true, result: undefined };
      }),
    giveUp: ({ organizationId, blobId }) =>
      connections.writeRelaxed(organizationId, (connection) => {
        connection.run(GIVE_UP, organizationId, blobId);
      }),
    piece: ({ organizationId, space, hash }, byteOffset) =>
      connections.read(organizationId, async (connection) => {
        const row = connection.first<PieceRecord>(PIECE, organizationId, space, hash, byteOffset);
        return row && { size: row.size, bytes: row.bytes === null ? undefined : Buffer.from(row.bytes) };
      }),
    size: ({ organizationId, space, hash }) =>
      connections.read(organizationId, async (connection) => {
        const row = connection.first<{ size: number }>(SIZE, organizationId, space, hash);
        return row?.size;
      }),
    unname: (address) =>
      connections.write(address.organizationId, async (connection) => {
        unname(connection, address);
        return { commit: true, result: undefined };
      }),
    hashes: (organizationId, space) =>
      connections.read(organizationId, async (connection) =>
        connection.all<{ hash: string }>(HASHES, organizationId, space).map(({ hash }) => hash),
      ),
    giveUpAll: (organizationId, space) =>
      connections.write(organizationId, async (connection) => {
        connection.run(GIVE_UP_ALL, organizationId, space);
        return { commit: true, result: undefined };
      }),
    clear: async (organizationId, space) => {
      let isCleared = false;
      await connections.writeRelaxed(organizationId, (connection) => {
        const row = connection.first<{ blob_id: string }>(UNNAMED, organizationId, space, clock());
        if (!row) return;
        isCleared = true;
        const pieces = connection.run(CLEAR, organizationId, row.blob_id, PIECES_CLEARED_AT_ONCE);
        if (pieces < PIECES_CLEARED_AT_ONCE) connection.run(FORGET, organizationId, row.blob_id);
      });
      return isCleared;
    },
  };
}

/** libsql gives an ArrayBuffer of its own for each value. */
interface PieceRecord {
  size: number;
  bytes: ArrayBuffer | null;
}

/** How a sweep removes from them in its own transaction: waiting for another turn to write, it would wait for itself. */
export function removalWithin(
  blobs: Pick<BlobStore, 'remove'>,
  rows: BlobRows,
): ((connection: SqliteConnection, address: Omit<BlobAddress, 'space'>) => void) | undefined {
  if (!(blobs instanceof DatabaseBlobs) || blobs.rows !== rows) return undefined;
  return (connection, address) => unname(connection, { ...address, space: blobs.space });
}

function unname(connection: SqliteConnection, { organizationId, space, hash }: BlobAddress): void {
  connection.run(UNNAME, organizationId, space, hash);
}
