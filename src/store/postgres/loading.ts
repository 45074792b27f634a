// Answers the reads of a Command and pages through aggregates, on the hosted store. Sibling of sqlite/loading.ts.
import type { AggregateKind, Aggregates } from '../../domain/aggregates.ts';
import { one, readKey, type LoadedAggregate, type Read, type RecentCount } from '../../domain/reads.ts';
import { checkListRead, fitsList, pageLimit } from '../bounded-reads.ts';
import type { PageRequest } from '../port.ts';
import type { Answer, Answers } from '../read-answers.ts';
import type { Statement, Value } from './session.ts';

export const LOAD = 'SELECT section, body FROM mwp.load_reads($1, coalesce($2, mwp.clock_text()), $3, $4, $5)';
export const LOAD_PARAMETERS = 5;

export interface SectionRow {
  [name: string]: unknown;
  section: string;
  body: string;
}

/** `now` absent: by the database's clock. */
export function loadStatement(organizationId: string, now: string | undefined, reads: Read[]): Statement {
  return { text: LOAD, parameters: [organizationId, now ?? null, ...readParameters(reads)] };
}

export function readParameters(reads: Read[]): [ones: object[], lists: object[], recents: object[]] {
  return [
    reads.filter((read) => read.read === 'one').map(({ kind, id }) => ({ kind, id })),
    reads
      .filter((read) => read.read === 'list')
      .map((read) => {
        checkListRead(read);
        const { kind, groupId, states, holder, parent } = read;
        return { kind, groupId, states, holder, parent };
      }),
    reads
      .filter((read) => read.read === 'recent')
      .map(({ groupId, eventKind, actor, seconds, limit }) => ({
        groupId,
        eventKind,
        actorType: actor.type,
        actorId: actor.id,
        seconds,
        limit,
      })),
  ];
}

/** From the rows that the database made of these reads: single aggregates, then list by list, then counts. */
export function answersFrom(reads: readonly Read[], rows: readonly SectionRow[]): Answers {
  const answers = new Map<string, Answer>();
  for (const read of reads) if (read.read === 'one') answers.set(readKey(read), { aggregates: [] });
  const lists = reads.filter(({ read }) => read === 'list').map(readKey);
  const recents = reads.filter(({ read }) => read === 'recent').map(readKey);
  let list: LoadedAggregate[] | undefined;
  for (const { section, body } of rows) {
    if (section === 'list') answers.set(lists.shift() as string, { aggregates: (list = []) });
    else if (section === 'recent') answers.set(recents.shift() as string, { recent: recentFrom(body) });
    else if (section === 'aggregate') {
      const aggregate = aggregateFrom(body);
      if (!list) answers.set(readKey(one(aggregate.kind, aggregate.id)), { aggregates: [aggregate] });
      else if (fitsList(aggregate.kind, list.length + 1)) list.push(aggregate);
    }
  }
  return answers;
}

/** A statement for each shape, so that each has a plan of its own. */
export function pageStatement(organizationId: string, request: PageRequest): Statement {
  const parameters: Value[] = [organizationId, request.kind, request.afterId ?? ''];
  const conditions = ['organization_id = $1', 'kind = $2', 'id > $3'];
  const add = (condition: (position: string) => string, value: Value | undefined): void => {
    if (value !== undefined) conditions.push(condition(`$${parameters.push(value)}`));
  };
  add((position) => `group_id = ${position} AND group_id >= ''`, request.groupId);
  add((position) => `state = ANY (ARRAY(SELECT json_array_elements_text(${position}::json)))`, request.states);
  add((position) => `holder = ${position}`, request.holder);
  add((position) => `parent = ${position}`, request.parent);
  const limit = `$${parameters.push(String(pageLimit(request.limit)))}`;
  const text = `SELECT json_build_array(kind, id, group_id, version, document)::text AS body FROM mwp.aggregates
    WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ${limit}::bigint`;
  return { text, parameters };
}

export function aggregateFrom(body: string): LoadedAggregate {
  const [kind, id, groupId, version, document] = JSON.parse(body) as [
    AggregateKind,
    string,
    string,
    number,
    Aggregates[AggregateKind],
  ];
  return { kind, id, groupId, version, document };
}

function recentFrom(body: string): RecentCount {
  const { count, oldest } = JSON.parse(body) as { count: number; oldest: string | null };
  return oldest === null ? { count } : { count, oldest };
}
