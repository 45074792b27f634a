// Answers the reads of a Command and pages through aggregates, on the local store. Each shape of a list has a statement
// of its own, written so that SQLite takes the index meant for it.
import type { AggregateKind, Aggregates } from '../../domain/aggregates.ts';
import type { ListRead, LoadedAggregate, Read, RecentCount, RecentRead } from '../../domain/reads.ts';
import { LIST_READ_MAXIMUM, readKey, RECENT_MARGIN } from '../../domain/reads.ts';
import { addSeconds } from '../../protocol/timestamps.ts';
import { checkListRead, fitsList, pageLimit } from '../bounded-reads.ts';
import type { PageRequest } from '../port.ts';
import type { Answer, Answers } from '../read-answers.ts';
import { parseStored } from '../stored-json.ts';
import type { SqliteConnection } from './connection.ts';
import { currentPolicy } from './policies.ts';
import type { TenantStatement } from './statements.ts';
import { tenantStatement } from './statements.ts';

const COLUMNS = 'kind, id, group_id, version, document';

const ONE = tenantStatement(
  'aggregate',
  `SELECT ${COLUMNS} FROM aggregates WHERE organization_id = ?1 AND kind = ?2 AND id = ?3`,
);

const OF_ACTOR = `FROM events
   WHERE organization_id = ?1 AND group_id = ?2 AND group_id <> '' AND kind = ?3 AND actor_id = ?5
     AND occurred_at > ?6 AND actor_type = ?4`;
const RECENT = tenantStatement(
  'recent events of an actor',
  `SELECT count(*) AS count, min(occurred_at) AS oldest ${OF_ACTOR}`,
);
/** The last one that counts; without it there are fewer than the limit. */
const AT_LIMIT = tenantStatement(
  'the recent event of an actor at the limit',
  `SELECT occurred_at AS oldest ${OF_ACTOR} ORDER BY occurred_at DESC LIMIT 1 OFFSET ?7`,
);

/** All Events of the Group together, counted by their positions: is there one so far back, and within the time? */
const AS_MANY = tenantStatement(
  'so many events of a Group',
  `SELECT 1 FROM events
   WHERE organization_id = ?1 AND stream_id = ?2 AND occurred_at > ?3 AND position = (
     SELECT position - ?4 + 1 FROM streams WHERE organization_id = ?1 AND stream_id = ?2)`,
);

interface Shape {
  group: boolean;
  states: boolean;
  holder: boolean;
  parent: boolean;
}

const LISTS = new Map<string, TenantStatement>(allShapes().map((shape) => [shapeName(shape), listStatement(shape)]));

export function load(connection: SqliteConnection, organizationId: string, reads: Read[], now: string): Answers {
  return new Map(reads.map((read) => [readKey(read), answer(connection, organizationId, read, now)]));
}

function answer(connection: SqliteConnection, organizationId: string, read: Read, now: string): Answer {
  if (read.read === 'recent') return { recent: recent(connection, organizationId, read, now) };
  if (read.read === 'list') return { aggregates: list(connection, organizationId, read) };
  const record = connection.first<AggregateRow>(ONE, organizationId, read.kind, read.id);
  return { aggregates: record ? [aggregateOf(record)] : [] };
}

export function page(connection: SqliteConnection, organizationId: string, request: PageRequest): LoadedAggregate[] {
  return rowsOf(connection, organizationId, request, request.afterId ?? '', pageLimit(request.limit));
}

function list(connection: SqliteConnection, organizationId: string, read: ListRead): LoadedAggregate[] {
  checkListRead(read);
  const rows = rowsOf(connection, organizationId, read, '', LIST_READ_MAXIMUM + 1);
  return fitsList(read.kind, rows.length) ? rows : rows.slice(0, LIST_READ_MAXIMUM);
}

function rowsOf(
  connection: SqliteConnection,
  organizationId: string,
  where: Omit<ListRead, 'read'>,
  afterId: string,
  limit: number,
): LoadedAggregate[] {
  const shape = {
    group: where.groupId !== undefined,
    states: where.states !== undefined,
    holder: where.holder !== undefined,
    parent: where.parent !== undefined,
  };
  return connection
    .all<AggregateRow>(
      LISTS.get(shapeName(shape)) as TenantStatement,
      organizationId,
      where.kind,
      where.groupId ?? null,
      where.states ? JSON.stringify(where.states) : null,
      where.holder ?? null,
      where.parent ?? null,
      afterId,
      limit,
    )
    .map(aggregateOf);
}

function recent(connection: SqliteConnection, organizationId: string, read: RecentRead, now: string): RecentCount {
  const { groupId, eventKind, actor, seconds, limit } = read;
  const since = addSeconds(now, -seconds);
  const most = currentPolicy(connection, organizationId).limits[limit];
  const near = most - RECENT_MARGIN;
  if (near > 0 && connection.first(AS_MANY, organizationId, groupId, since, near) === undefined) return { count: 0 };
  const values = [groupId, eventKind, actor.type, actor.id, since];
  const reached = connection.first<{ oldest: string }>(AT_LIMIT, organizationId, ...values, most - 1);
  if (reached !== undefined) return { count: most, oldest: reached.oldest };
  const row = connection.first<{ count: number; oldest: string | null }>(RECENT, organizationId, ...values);
  return row?.oldest == null ? { count: 0 } : { count: row.count, oldest: row.oldest };
}

/** The way in is the parent, else the holder, else the Group; a `+` keeps the others from being taken for it. */
function listStatement(shape: Shape): TenantStatement {
  const conditions = ['organization_id = ?1', 'kind = ?2'];
  if (shape.parent) conditions.push('parent = ?6');
  if (shape.holder) conditions.push(`${shape.parent ? '+' : ''}holder = ?5`);
  if (shape.group) conditions.push(`${shape.parent || shape.holder ? '+' : ''}group_id = ?3`);
  if (shape.states) conditions.push('state IN (SELECT value FROM json_each(?4))');
  // Two indexes have the state before the id; the order of ids alone would lure SQLite to another.
  const id = (shape.holder || (shape.group && shape.states)) && !shape.parent ? '+id' : 'id';
  conditions.push(`${id} > ?7`);
  const text = `SELECT ${COLUMNS} FROM aggregates WHERE ${conditions.join(' AND ')} ORDER BY ${id} LIMIT ?8`;
  return tenantStatement(`aggregates by ${shapeName(shape)}`, text);
}

function shapeName(shape: Shape): string {
  const names = (['group', 'states', 'holder', 'parent'] as const).filter((name) => shape[name]);
  return names.length === 0 ? 'kind' : names.join(' and ');
}

function allShapes(): Shape[] {
  return Array.from({ length: 16 }, (_, bits) => ({
    group: (bits & 1) !== 0,
    states: (bits & 2) !== 0,
    holder: (bits & 4) !== 0,
    parent: (bits & 8) !== 0,
  }));
}

interface AggregateRow {
  kind: AggregateKind;
  id: string;
  group_id: string;
  version: number;
  document: string;
}

function aggregateOf(row: AggregateRow): LoadedAggregate {
  const document = parseStored<Aggregates[AggregateKind]>(row.document);
  return { kind: row.kind, id: row.id, groupId: row.group_id, version: row.version, document };
}
