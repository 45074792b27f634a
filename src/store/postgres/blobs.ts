// Pieces of blobs and their names, on the hosted store. Sibling of sqlite/blobs.ts.
import {
  DatabaseBlobs,
  incomplete,
  PIECES_CLEARED_AT_ONCE,
  type BlobAddress,
  type BlobRows,
} from '../database-blobs.ts';
import { INCOMING_MAXIMUM_MS, type BlobStore } from '../port/blobs.ts';
import { TAKE_LOCK, type PostgresConnections } from './connections.ts';
import type { Row, Statement } from './session.ts';

/** Before the name is there nothing need survive; its COMMIT, which waits for the disk, is written after all of this. */
const RELAXED: Statement = { text: 'SET LOCAL synchronous_commit = off', parameters: [] };
const NOW = `coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;
const OF_BLOB = 'organization_id = $1 AND blob_id = $2';
/** With IS NULL the index of drafts would do, which knows no id: every draft of the Organization would be read for one. */
const IS_DRAFT = `coalesce(hash, '') = ''`;
const AT_ADDRESS = 'organization_id = $1 AND space = $2 AND hash = $3';

const BEGIN = `INSERT INTO mwp.blobs (organization_id, blob_id, space, size, kept_until_millis)
  VALUES ($1, $3, $4, 0, ${NOW} + ${INCOMING_MAXIMUM_MS})`;
const APPEND = `INSERT INTO mwp.blob_pieces (organization_id, blob_id, byte_offset, bytes)
  VALUES ($1, $2, $3::bigint, $4::bytea)`;
/** Locked: from here on nobody clears it. The length of what is stored is known without reading it. */
const DRAFT = `SELECT (SELECT coalesce(sum(octet_length(p.bytes)), 0)::bigint FROM mwp.blob_pieces p
    WHERE p.organization_id = $1 AND p.blob_id = $2) AS bytes
  FROM mwp.blobs WHERE ${OF_BLOB} AND ${IS_DRAFT} FOR UPDATE`;
const UNNAME = `UPDATE mwp.blobs SET hash = NULL, kept_until_millis = 0 WHERE ${AT_ADDRESS}`;
const NAME = `UPDATE mwp.blobs SET hash = $3, size = $4::bigint WHERE ${OF_BLOB}`;
const GIVE_UP = `UPDATE mwp.blobs SET kept_until_millis = 0 WHERE ${OF_BLOB} AND ${IS_DRAFT}`;
const HASHES = 'SELECT hash FROM mwp.blobs WHERE organization_id = $1 AND space = $2 AND hash IS NOT NULL';
const GIVE_UP_ALL = `UPDATE mwp.blobs SET kept_until_millis = 0
  WHERE organization_id = $1 AND space = $2 AND hash IS NULL`;
const PIECE = `SELECT b.size, (SELECT p.bytes FROM mwp.blob_pieces p
    WHERE p.organization_id = $1 AND p.blob_id = b.blob_id AND p.byte_offset = $4::bigint) AS bytes
  FROM mwp.blobs b WHERE b.${AT_ADDRESS}`;
const SIZE = `SELECT size FROM mwp.blobs WHERE ${AT_ADDRESS}`;
/** Several who clear at the same time take one each. */
const UNNAMED = `SELECT blob_id FROM mwp.blobs WHERE organization_id = $1 AND space = $3 AND hash IS NULL
    AND kept_until_millis <= ${NOW}
  ORDER BY kept_until_millis LIMIT 1 FOR UPDATE SKIP LOCKED`;
const CLEAR = `DELETE FROM mwp.blob_pieces WHERE ${OF_BLOB} AND byte_offset = ANY (ARRAY(
    SELECT byte_offset FROM mwp.blob_pieces WHERE ${OF_BLOB} ORDER BY byte_offset LIMIT ${PIECES_CLEARED_AT_ONCE}))`;
const FORGET = `DELETE FROM mwp.blobs WHERE ${OF_BLOB} AND ${IS_DRAFT} AND NOT EXISTS (
    SELECT FROM mwp.blob_pieces p WHERE p.organization_id = $1 AND p.blob_id = $2)`;

/** `clock` absent: the database's own, in milliseconds. */
export function blobRows(connections: PostgresConnections, clock: (() => number) | undefined): BlobRows {
  const now = () => (clock ? String(clock()) : null);
  const write = (organizationId: string, opening: Statement[], ...statements: Statement[]) =>
    connections.write(organizationId, opening, async (transaction) => void (await transaction.commit(...statements)));
  const first = <Answer extends Row>(organizationId: string, { text, parameters }: Statement) =>
    connections.read(organizationId, async (transaction) => (await transaction.query<Answer>(text, parameters))[0]);
  return {
    begin: ({ organizationId, space, blobId }) =>
      write(organizationId, [RELAXED], { text: BEGIN, parameters: [organizationId, now(), blobId, space] }),
    append: ({ organizationId, blobId }, byteOffset, bytes) =>
      connections.carry(organizationId, () =>
        write(organizationId, [RELAXED], {
          text: APPEND,
          parameters: [organizationId, blobId, String(byteOffset), bytes],
        }),
      ),
    name: ({ organizationId, space, blobId }, { hash, size }) =>
      connections.write(organizationId, [lockOf({ organizationId, space, hash })], async (transaction) => {
        const [draft] = await transaction.query<{ bytes: number }>(DRAFT, [organizationId, blobId]);
        if (draft?.bytes !== size) throw incomplete();
        await transaction.commit(unname({ organizationId, space, hash }), {
          text: NAME,
          parameters: [organizationId, blobId, hash, String(size)],
        });
      }),
    giveUp: ({ organizationId, blobId }) =>
      write(organizationId, [RELAXED], { text: GIVE_UP, parameters: [organizationId, blobId] }),
    piece: async ({ organizationId, space, hash }, byteOffset) => {
      const parameters = [organizationId, space, hash, String(byteOffset)];
      const asked = () => first<PieceRecord>(organizationId, { text: PIECE, parameters });
      const row = await connections.carry(organizationId, asked);
      return row && { size: row.size, bytes: row.bytes ?? undefined };
    },
    size: async ({ organizationId, space, hash }) => {
      const parameters = [organizationId, space, hash];
      return (await first<{ size: number }>(organizationId, { text: SIZE, parameters }))?.size;
    },
    unname: (address) => write(address.organizationId, [], unname(address)),
    hashes: (organizationId, space) =>
      connections.read(organizationId, async (transaction) =>
        (await transaction.query<{ hash: string }>(HASHES, [organizationId, space])).map(({ hash }) => hash),
      ),
    giveUpAll: (organizationId, space) =>
      write(organizationId, [], { text: GIVE_UP_ALL, parameters: [organizationId, space] }),
    clear: (organizationId, space) =>
      connections.write(organizationId, [RELAXED], async (transaction) => {
        const parameters = [organizationId, now(), space];
        const [row] = await transaction.query<{ blob_id: string }>(UNNAMED, parameters);
        if (!row) return false;
        const ofBlob = [organizationId, row.blob_id];
        await transaction.commit({ text: CLEAR, parameters: ofBlob }, { text: FORGET, parameters: ofBlob });
        return true;
      }),
  };
}

interface PieceRecord extends Row {
  size: number;
  bytes: Uint8Array | null;
}

/** How a sweep removes from them in its own transaction: for another connection it might wait as long as others for it. */
export function removalWithin(
  blobs: Pick<BlobStore, 'remove'>,
  rows: BlobRows,
): ((address: Omit<BlobAddress, 'space'>) => Statement) | undefined {
  if (!(blobs instanceof DatabaseBlobs) || blobs.rows !== rows) return undefined;
  return (address) => unname({ ...address, space: blobs.space });
}

/** Of two who name at the same time, the second does not see the first's row, and would trip over it. */
function lockOf({ organizationId, space, hash }: BlobAddress): Statement {
  return { text: TAKE_LOCK, parameters: [`blob ${organizationId} ${space} ${hash}`, 'exclusive'] };
}

function unname({ organizationId, space, hash }: BlobAddress): Statement {
  return { text: UNNAME, parameters: [organizationId, space, hash] };
}
