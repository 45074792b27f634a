// Erasures on the hosted store. Sibling of sqlite/erasures.ts.
import { pageLimit } from '../bounded-reads.ts';
import { erasureFromRecord, type ErasureRecord } from '../erasure-records.ts';
import type { ErasureState, ErasureStore, TakenBodies } from '../port/erasures.ts';
import type { PostgresConnections } from './connections.ts';
import { EMPTY_COMMANDS, EMPTY_DOCUMENTS } from './segments.ts';
import type { Row, Statement, Value } from './session.ts';
import type { Transaction } from './transaction.ts';

const COLUMNS = 'ordered_by, group_id, first_sequence, last_sequence, state, blobs, recorded_at';
const INSERT = `INSERT INTO mwp.erasures (organization_id, ${COLUMNS})
  SELECT $1, ${COLUMNS} FROM json_populate_recordset(NULL::mwp.erasures, $2::json)`;
const IN_STATE = `SELECT ${COLUMNS} FROM mwp.erasures
  WHERE organization_id = $1 AND state = $2 AND state >= '' AND ordered_by > $3 ORDER BY ordered_by LIMIT $4::bigint`;
const STATE = 'SELECT state FROM mwp.erasures WHERE organization_id = $1 AND ordered_by = $2';
const TAKE = `UPDATE mwp.erasures SET state = 'taken', blobs = $3, taken_at = coalesce($4, mwp.clock_text())
  WHERE organization_id = $1 AND ordered_by = $2 AND state = 'due' RETURNING group_id, first_sequence, last_sequence`;
const REMOVED = `UPDATE mwp.erasures SET state = 'removed', blobs = '[]', removed_at = coalesce($3, mwp.clock_text())
  WHERE organization_id = $1 AND ordered_by = $2 AND state = 'taken'`;
/** Its marks, those among the named Events, and the renditions that any mark on the same Events still lacks. */
const STANDING = `SELECT count(*)::int AS marks,
    count(*) FILTER (WHERE w.event_id = ANY (ARRAY(SELECT json_array_elements_text($6::json))))::int AS named,
    coalesce(sum((SELECT count(*) FROM mwp.withheld o
      LEFT JOIN mwp.renditions r ON r.organization_id = o.organization_id AND r.group_id = o.group_id
        AND r.position = o.position AND r.cause = o.cause
      WHERE o.organization_id = $1 AND o.group_id = w.group_id AND o.position = w.position AND r.position IS NULL)), 0)::int
      AS unrendered
  FROM mwp.withheld w WHERE w.organization_id = $1 AND w.group_id = $3 AND w.position BETWEEN $4::bigint AND $5::bigint
    AND w.cause = 'erased' AND w.ordered_by = $2`;
const SEAL_ANEW = `UPDATE mwp.segments SET hash = $5, size = $6::bigint
  WHERE organization_id = $1 AND group_id = $2 AND position = $3::bigint AND hash = $4 RETURNING 1 AS done`;
const EMPTY_EVENTS = `WITH emptied AS (UPDATE mwp.events SET body = NULL
    WHERE organization_id = $1 AND stream_id = $2 AND body IS NOT NULL
      AND position = ANY (ARRAY(SELECT json_array_elements_text($3::json)::bigint)) RETURNING 1)
  SELECT count(*)::int AS count FROM emptied`;
const DELETE_TEXTS = `DELETE FROM mwp.texts
  WHERE organization_id = $1 AND event_id >= '' AND event_id = ANY (ARRAY(SELECT json_array_elements_text($2::json)))`;
const SEALED_AT = `SELECT hash FROM mwp.segments
  WHERE organization_id = $1 AND hash = ANY (ARRAY(SELECT json_array_elements_text($2::json)))`;

/** With the marks. */
export function dueErasuresStatement(organizationId: string, erasures: readonly ErasureRecord[]): Statement {
  return { text: INSERT, parameters: [organizationId, erasures] };
}

/** `clock` absent: the database's own. */
export function erasureStore(connections: PostgresConnections, clock: (() => string) | undefined): ErasureStore {
  const now = () => clock?.() ?? null;
  return {
    inState: (organizationId, state, after, limit) =>
      connections.read(organizationId, async (transaction) => {
        const parameters = [organizationId, state, after, pageLimit(limit)];
        return (await transaction.query<Row & ErasureRecord>(IN_STATE, parameters)).map(erasureFromRecord);
      }),
    state: (organizationId, orderedBy) =>
      connections.read(organizationId, async (transaction) => {
        const rows = await transaction.query<{ state: ErasureState }>(STATE, [organizationId, orderedBy]);
        return rows[0]?.state;
      }),
    take: (organizationId, orderedBy, taken) =>
      connections.write(organizationId, [], async (transaction) => {
        const isTaken = await take(transaction, { organizationId, orderedBy, now: now() }, taken);
        if (isTaken) await transaction.commit();
        return isTaken;
      }),
    removed: (organizationId, orderedBy) =>
      connections.write(organizationId, [], async (transaction) => {
        await transaction.commit({ text: REMOVED, parameters: [organizationId, orderedBy, now()] });
      }),
    sealedAt: (organizationId, hashes) =>
      connections.read(organizationId, async (transaction) =>
        (await transaction.query<{ hash: string }>(SEALED_AT, [organizationId, hashes])).map(({ hash }) => hash),
      ),
  };
}

interface Standing extends Row {
  marks: number;
  named: number;
  unrendered: number;
}

async function take(
  transaction: Transaction,
  { organizationId, orderedBy, now }: { organizationId: string; orderedBy: string; now: string | null },
  { eventIds, events, commands, documents, segments }: TakenBodies,
): Promise<boolean> {
  const blobs = JSON.stringify(segments.map(({ before }) => before));
  const [row] = await transaction.query<Row & ErasureRecord>(TAKE, [organizationId, orderedBy, blobs, now]);
  if (!row) return false;
  const { group_id: groupId, first_sequence: first, last_sequence: last } = row;
  const range = [groupId, first, last];
  const [standing] = await transaction.query<Standing>(STANDING, [organizationId, orderedBy, ...range, eventIds]);
  if (standing?.marks !== eventIds.length || standing.named !== eventIds.length || standing.unrendered > 0)
    return false;
  for (const { position, before, hash, size } of segments) {
    const sealed = await transaction.query(SEAL_ANEW, [organizationId, groupId, position, before, hash, size]);
    if (sealed.length !== 1) return false;
  }
  const count = async (text: string, values: Value[]) =>
    (await transaction.query<{ count: number }>(text, [organizationId, ...values]))[0]?.count;
  const isWhole =
    (await count(EMPTY_EVENTS, [groupId, events])) === events.length &&
    (await count(EMPTY_COMMANDS, [commands])) === commands.length &&
    (await count(EMPTY_DOCUMENTS, [documents])) === documents.length;
  if (isWhole) await transaction.query(DELETE_TEXTS, [organizationId, eventIds]);
  return isWhole;
}
