// The floor on SQLite: one transaction of prepared statements for each transition, through the service's own connection
// class. There is one writer, so there is one client.
import { SqliteConnection } from '../../src/store/sqlite/connection.ts';
import { tenantStatement } from '../../src/store/sqlite/statements.ts';
import { newFloorStream, nextRows, readPattern, type FloorStream, type Pattern, type Row } from './floor-rows.ts';
import type { FloorWriter } from './floor.ts';

const MOVE = tenantStatement(
  'move a head of the floor',
  'UPDATE streams SET position = ?3, revision = ?3 + 1 WHERE organization_id = ?1 AND stream_id = ?2',
);
const CHANGE = tenantStatement(
  'change a Conversation of the floor',
  `UPDATE aggregates SET version = version + 1, document = ?3, hash = ?4
   WHERE organization_id = ?1 AND kind = 'conversation' AND id = ?2`,
);

export async function openSqliteFloor(file: string, streams: number): Promise<FloorWriter[]> {
  const connection = new SqliteConnection(file, { durable: true });
  const ask = async (text: string, values: (string | number | null)[]) =>
    connection.rows(text.replaceAll('$', '?'), values) as Row[];
  const pattern = await readPattern(ask, '', 'document');
  const organizationId = String(pattern.stream['organization_id']);
  const made = Array.from({ length: streams }, newFloorStream);
  const insert = (table: string, row: Row) => connection.rows(insertText(table, row), Object.values(row));
  await connection.begin('IMMEDIATE');
  for (const { streamId, conversationId } of made) {
    insert('streams', { ...pattern.stream, stream_id: streamId, root_group_id: streamId, position: 0, revision: 1 });
    insert('aggregates', { ...pattern.conversation, id: conversationId, group_id: streamId });
  }
  connection.commit();
  const texts = new Map(pattern.inserts.map(({ table, row }) => [table, insertText(table, row)]));
  const write = async (stream: FloorStream) => {
    await connection.begin('IMMEDIATE');
    connection.run(MOVE, organizationId, stream.streamId, stream.position);
    for (const { table, row } of nextRows(pattern, stream)) {
      connection.rows(texts.get(table) as string, Object.values(row));
    }
    connection.run(CHANGE, organizationId, stream.conversationId, ...changed(pattern));
    connection.commit();
  };
  return [{ streams: made, write, close: () => connection.close() }];
}

function insertText(table: string, row: Row): string {
  const columns = Object.keys(row);
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, at) => `?${at + 1}`).join(', ')})`;
}

function changed({ conversation }: Pattern) {
  return [conversation['document'] ?? null, conversation['hash'] ?? null];
}
