// Sealed segments on the hosted store. Sibling of sqlite/segments.ts.
import { pageLimit } from '../bounded-reads.ts';
import type { GroupStanding, SealedBodies, SegmentReader, SegmentRow, SegmentStore, Window } from '../port/segments.ts';
import {
  outsideOf,
  segmentFromRecord,
  segmentToRecord,
  standingFromRecord,
  type SegmentRecord,
  type StandingRecord,
} from '../segment-records.ts';
import type { PostgresConnections } from './connections.ts';
import { segments } from './schema.ts';
import type { Row, Value } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const COLUMNS = columnsOf(segments);
/** Of two at the same time, the second waits for the first and then inserts nothing. */
const INSERT = `INSERT INTO mwp.segments (${COLUMNS})
  SELECT ${COLUMNS.replace('organization_id', '$1')} FROM json_populate_record(NULL::mwp.segments, $2::json)
  ON CONFLICT (organization_id, group_id, position) DO NOTHING RETURNING 1 AS done`;
const EMPTY_EVENTS = `WITH emptied AS (UPDATE mwp.events SET body = NULL
    WHERE organization_id = $1 AND stream_id = $2 AND position BETWEEN $3::bigint AND $4::bigint AND body IS NOT NULL
    RETURNING 1)
  SELECT count(*)::int AS count FROM emptied`;
const emptied = (table: string) => `WITH emptied AS (UPDATE mwp.${table} SET body = NULL
    WHERE organization_id = $1 AND signing_hash = ANY (ARRAY(SELECT json_array_elements_text($2::json)))
      AND body IS NOT NULL RETURNING 1)
  SELECT count(*)::int AS count FROM emptied`;
export const EMPTY_COMMANDS = emptied('commands');
export const EMPTY_DOCUMENTS = emptied('documents');
const FROM = `SELECT ${COLUMNS} FROM mwp.segments
  WHERE organization_id = $1 AND group_id = $2 AND group_id >= '' AND last_sequence >= $3::bigint
  ORDER BY last_sequence LIMIT $4::bigint`;
const OF_REVISION = `SELECT ${COLUMNS} FROM mwp.segments
  WHERE organization_id = $1 AND group_id = $2 AND group_id >= '' AND last_revision >= $3::bigint
  ORDER BY last_revision LIMIT 1`;
const LATEST = `SELECT ${COLUMNS} FROM mwp.segments
  WHERE organization_id = $1 AND group_id = $2 ORDER BY position DESC LIMIT 1`;
const AT = `SELECT ${COLUMNS} FROM mwp.segments WHERE organization_id = $1 AND group_id = $2 AND position = $3::bigint`;
const STANDING = `SELECT s.stream_id AS group_id, s.position AS head_sequence,
    coalesce((SELECT g.last_sequence FROM mwp.segments g WHERE g.organization_id = $1 AND g.group_id = s.stream_id
      ORDER BY g.position DESC LIMIT 1), 0) AS sealed_through,
    coalesce((SELECT g.through_sequence FROM mwp.group_snapshots g
      WHERE g.organization_id = $1 AND g.group_id = s.stream_id ORDER BY g.position DESC LIMIT 1), 0) AS snapshot_through
  FROM mwp.streams s WHERE s.organization_id = $1 AND s.stream_kind = 'group'`;
const STANDINGS = `${STANDING} AND s.stream_id > $2 ORDER BY s.stream_id LIMIT $3::bigint`;
const STANDING_OF = `${STANDING} AND s.stream_id = $2`;
const BEYOND_BYTES = `SELECT coalesce(max(position), 0) AS through FROM (
    SELECT position, sum(octet_length(body)) OVER (ORDER BY position DESC) AS total FROM mwp.events
    WHERE organization_id = $1 AND stream_id = $2 AND position > $3::bigint) AS counted WHERE total > $4::bigint`;
const FIRST_SINCE = `SELECT position FROM mwp.events
  WHERE organization_id = $1 AND stream_id = $2 AND position > $3::bigint AND occurred_at >= $4
  ORDER BY position LIMIT 1`;

export function segmentStore(connections: PostgresConnections): SegmentStore {
  return {
    seal: (organizationId, segment, bodies) =>
      connections.write(organizationId, [], (transaction) => seal(transaction, organizationId, segment, bodies)),
    standings: (organizationId, afterGroupId, limit) =>
      connections.read(organizationId, (transaction) =>
        standings(transaction, STANDINGS, [organizationId, afterGroupId, pageLimit(limit)]),
      ),
    standing: (organizationId, groupId) =>
      connections.read(organizationId, (transaction) => standingOf(transaction, organizationId, groupId)),
    outsideWindow: (organizationId, groupId, window) =>
      connections.read(organizationId, (transaction) => outside(transaction, organizationId, groupId, window)),
  };
}

export function segmentReader(transaction: Transaction, organizationId: string): SegmentReader {
  const all = async (text: string, values: Value[]) =>
    (await transaction.query<Row & SegmentRecord>(text, [organizationId, ...values])).map(segmentFromRecord);
  return {
    segmentsFrom: (groupId, sequence, limit) => all(FROM, [groupId, sequence, pageLimit(limit)]),
    segmentOfRevision: async (groupId, revision) =>
      (await all(OF_REVISION, [groupId, revision])).find(({ firstRevision }) => firstRevision <= revision),
    segmentAt: async (groupId, position) => (await all(AT, [groupId, position]))[0],
    latestSegment: async (groupId) => (await all(LATEST, [groupId]))[0],
  };
}

async function seal(
  transaction: Transaction,
  organizationId: string,
  segment: SegmentRow,
  { events, commands, documents }: SealedBodies,
): Promise<boolean> {
  const inserted = await transaction.query(INSERT, [organizationId, segmentToRecord(segment)]);
  if (inserted.length !== 1) return false;
  const { groupId, firstSequence, lastSequence } = segment;
  const count = async (text: string, values: Value[]) =>
    (await transaction.query<{ count: number }>(text, [organizationId, ...values]))[0]?.count;
  const isWhole =
    (await count(EMPTY_EVENTS, [groupId, firstSequence, lastSequence])) === events &&
    (await count(EMPTY_COMMANDS, [commands])) === commands.length &&
    (await count(EMPTY_DOCUMENTS, [documents])) === documents.length;
  if (isWhole) await transaction.commit();
  return isWhole;
}

async function standings(transaction: Transaction, text: string, values: Value[]): Promise<GroupStanding[]> {
  return (await transaction.query<Row & StandingRecord>(text, values)).map(standingFromRecord);
}

async function standingOf(transaction: Transaction, organizationId: string, groupId: string) {
  return (await standings(transaction, STANDING_OF, [organizationId, groupId]))[0];
}

async function outside(
  transaction: Transaction,
  organizationId: string,
  groupId: string,
  { events, bytes, since }: Window,
): Promise<number> {
  const standing = await standingOf(transaction, organizationId, groupId);
  if (!standing) return 0;
  const { sealedThrough } = standing;
  const one = async (text: string, value: Value) =>
    (await transaction.query<Row>(text, [organizationId, groupId, sealedThrough, value]))[0];
  const heavy = bytes === undefined ? undefined : await one(BEYOND_BYTES, bytes);
  const young = since === undefined ? undefined : await one(FIRST_SINCE, since);
  return outsideOf(standing, {
    events,
    heavyThrough: heavy && Number(heavy['through']),
    since,
    firstSince: young && Number(young['position']),
  });
}
