// The rows that one accepted message.post left in the database, as a pattern: written again with new keys they are the
// same rows, and nothing had to be decided for them.
import { createHash, randomUUID } from 'node:crypto';

export type Value = string | number | null;
export type Row = Record<string, Value>;

/** Runs a SELECT; `$1`, `$2` stand for the values. */
export type Ask = (text: string, values: Value[]) => Promise<Row[]>;

export interface TableRow {
  table: string;
  row: Row;
}

export interface Pattern {
  stream: Row;
  conversation: Row;
  /** In the order in which foreign keys want them. */
  inserts: TableRow[];
}

/** `prefix`: of the tables' names. `document`: how an aggregate's document is read as text. */
export async function readPattern(ask: Ask, prefix: string, document: string): Promise<Pattern> {
  const first = async (table: string, where: string, values: Value[], columns = '*'): Promise<Row> => {
    const [row] = await ask(`SELECT ${columns} FROM ${prefix}${table} WHERE ${where} LIMIT 1`, values);
    if (!row) throw new Error(`no row in ${table}`);
    return row;
  };
  const aggregate = `organization_id, kind, id, group_id, version, ${document} AS document, hash, state, holder, parent`;
  const event = await first('events', `kind = $1`, ['message.posted']);
  const { message } = (JSON.parse(String(event['body'])) as { payload: { message: Record<string, string> } }).payload;
  const hash = [event['command_hash'] as Value];
  const inStream = [event['stream_id'] as Value, event['revision'] as Value];
  return {
    stream: await first('streams', 'stream_id = $1', [event['stream_id'] as Value]),
    conversation: await first('aggregates', `id = $1`, [message?.['conversationId'] ?? ''], aggregate),
    inserts: [
      { table: 'events', row: event },
      { table: 'transitions', row: await first('transitions', 'stream_id = $1 AND revision = $2', inStream) },
      { table: 'aggregates', row: await first('aggregates', 'id = $1', [message?.['messageId'] ?? ''], aggregate) },
      { table: 'texts', row: await first('texts', 'event_id = $1', [event['event_id'] as Value]) },
      { table: 'commands', row: await first('commands', 'signing_hash = $1', hash) },
      { table: 'admissions', row: await first('admissions', 'signing_hash = $1', hash) },
      { table: 'receipts', row: await first('receipts', 'signing_hash = $1', hash) },
    ],
  };
}

/** A stream of the floor's own: the service's Groups stay what their Events say. */
export interface FloorStream {
  streamId: string;
  conversationId: string;
  position: number;
}

export function newFloorStream(): FloorStream {
  return { streamId: `urn:uuid:${randomUUID()}`, conversationId: `urn:uuid:${randomUUID()}`, position: 0 };
}

/** The pattern's insert rows under new keys, at the stream's next position. */
export function nextRows({ inserts }: Pattern, stream: FloorStream): TableRow[] {
  const hash = freshHash();
  const keys: Row = {
    stream_id: stream.streamId,
    group_id: stream.streamId,
    position: stream.position,
    revision: stream.position,
    event_id: freshId(),
    signing_hash: hash,
    command_hash: hash,
    admission_record_id: freshId(),
    action_id: freshId(),
    commitment: freshHash(),
    id: freshId(),
  };
  return inserts.map(({ table, row }) => {
    const renewed = { ...row };
    for (const column in renewed) if (column in keys) renewed[column] = keys[column] as Value;
    return { table, row: renewed };
  });
}

function freshId(): string {
  return `urn:uuid:${randomUUID()}`;
}

function freshHash(): string {
  return `sha256:${createHash('sha256').update(randomUUID()).digest('hex')}`;
}
