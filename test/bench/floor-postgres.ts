// The floor on PostgreSQL: one prepared statement that writes all rows of a transition and commits by itself, so one round
// trip; the service's own connection class, as many connections as the service may have.
import postgres from 'postgres';
import { Session } from '../../src/store/postgres/session.ts';
import { RUNTIME_ROLE } from '../../src/store/postgres/open.ts';
import { newFloorStream, nextRows, readPattern, type FloorStream, type Pattern, type Row } from './floor-rows.ts';
import type { FloorWriter } from './floor.ts';

/** What `mwp serve` uses unless told otherwise. */
const CONNECTIONS_MAXIMUM = 10;

export async function openPostgresFloor(url: string, streams: number, clients: number): Promise<FloorWriter[]> {
  const sql = postgres(url, { max: 1, fetch_types: false, types: { bigint: AS_NUMBER } });
  const ask = async (text: string, values: unknown[]) =>
    (await sql.unsafe(text, values as never[])) as unknown as Row[];
  const pattern = await readPattern(ask, 'mwp.', 'document::text');
  const made = Array.from({ length: streams }, newFloorStream);
  for (const stream of made) await insertStream(ask, pattern, stream);
  await sql.end();
  const text = statementOf(pattern);
  const writers: FloorWriter[] = [];
  for (let number = 0; number < Math.min(clients, CONNECTIONS_MAXIMUM); number += 1) {
    const session = await Session.open({ url, role: RUNTIME_ROLE, hot: [] });
    await session.query(`SELECT set_config('mwp.organization', $1, false)`, [
      String(pattern.stream['organization_id']),
    ]);
    writers.push({
      streams: made,
      write: async (stream) => void (await session.query(text, valuesOf(pattern, stream))),
      close: () => session.end(),
    });
  }
  return writers;
}

const AS_NUMBER: postgres.PostgresType<number> = { to: 20, from: [20], parse: Number, serialize: String };

async function insertStream(
  ask: (text: string, values: unknown[]) => Promise<Row[]>,
  pattern: Pattern,
  stream: FloorStream,
) {
  const { streamId, conversationId } = stream;
  const head = { ...pattern.stream, stream_id: streamId, root_group_id: streamId, position: 0, revision: 1 };
  await ask(insertText('streams', head, 1), Object.values(head));
  const conversation = { ...pattern.conversation, id: conversationId, group_id: streamId };
  await ask(insertText('aggregates', conversation, 1), Object.values(conversation));
}

/** Documents go as text, as the service sends them. */
function insertText(table: string, row: Row, from: number): string {
  const columns = Object.keys(row);
  const values = columns.map((column, at) => `$${from + at}${column === 'document' ? '::text::json' : ''}`);
  return `INSERT INTO mwp.${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`;
}

const HEAD_PARAMETERS = 6;

function statementOf(pattern: Pattern): string {
  let from = HEAD_PARAMETERS + 1;
  const inserts = pattern.inserts.map(({ table, row }) => {
    const text = insertText(table, row, from);
    from += Object.keys(row).length;
    return text;
  });
  const last = inserts.pop() as string;
  return `WITH head AS (UPDATE mwp.streams SET position = $3::bigint, revision = $3::bigint + 1
      WHERE organization_id = $1 AND stream_id = $2),
    changed AS (UPDATE mwp.aggregates SET version = version + 1, document = $5::text::json, hash = $6
      WHERE organization_id = $1 AND kind = 'conversation' AND id = $4),
    ${inserts.map((text, at) => `w${at} AS (${text})`).join(', ')} ${last}`;
}

function valuesOf(pattern: Pattern, stream: FloorStream) {
  const { conversation } = pattern;
  const head = [conversation['organization_id'], stream.streamId, stream.position, stream.conversationId];
  const rows = nextRows(pattern, stream).flatMap(({ row }) => Object.values(row));
  return [...head, conversation['document'], conversation['hash'], ...rows] as (string | number | null)[];
}
