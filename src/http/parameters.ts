// Path and query parameters: decoded, bounded and checked before they come near a database.
import type { Context } from 'hono';
import { isUri } from '../protocol/documents/uri.ts';
import { fail } from './errors.ts';
import type { QueryParameter } from './openapi/operation.ts';

export const ID_MAXIMUM = 512;
export const PAGE_LIMIT_DEFAULT = 50;
/** With the largest Events (about 1 MiB each in theory, 5 kB in practice) still an answer that a client can hold. */
export const PAGE_LIMIT_MAXIMUM = 200;
/** The longest id of an aggregate is two URIs and a word (a Membership). */
const CURSOR_MAXIMUM = 1_100;

/** An id of the path. Text that no id can be is `undefined`: it names nothing, and no database need be asked. */
export function idParameter(c: Context, name: string): string | undefined {
  const text = c.req.param(name);
  return text !== undefined && text.length <= ID_MAXIMUM && isUri(text) ? text : undefined;
}

/** An id of the query. */
export function idQuery(c: Context, name: string): string | undefined {
  const text = c.req.query(name);
  if (text === undefined || (text.length <= ID_MAXIMUM && isUri(text))) return text;
  throw fail('SCHEMA_VALIDATION_FAILED', `${name} must be an absolute URI of at most ${ID_MAXIMUM} characters`);
}

export const GROUP_PARAMETER: QueryParameter = {
  name: 'groupId',
  description: 'Only what is of this Group.',
  schema: { type: 'string', format: 'uri', maxLength: ID_MAXIMUM },
};

const LIMIT_PARAMETER: QueryParameter = {
  name: 'limit',
  description: 'How many items at most. A page can hold fewer; only a missing `next` is the end.',
  schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAXIMUM, default: PAGE_LIMIT_DEFAULT },
};

export const PAGE_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'after',
    description: 'The `next` of the page before.',
    schema: { type: 'string', minLength: 1, maxLength: CURSOR_MAXIMUM, pattern: '^[ -~]+$' },
  },
  LIMIT_PARAMETER,
];

export interface PageQuery {
  /** The `next` of the page before. */
  after?: string;
  limit: number;
}

export function pageQuery(c: Context): PageQuery {
  const after = c.req.query('after');
  const limit = limitQuery(c);
  if (after === undefined) return { limit };
  if (after === '' || after.length > CURSOR_MAXIMUM || !/^[\x20-\x7e]+$/.test(after)) {
    throw fail('SCHEMA_VALIDATION_FAILED', 'after must be the next of an earlier page');
  }
  return { after, limit };
}

export const NUMBERED_PAGE_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'after',
    description: 'The last number that the caller has; 0 or nothing: from the first one on.',
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999_999_999, default: 0 },
  },
  LIMIT_PARAMETER,
];

export interface NumberedPageQuery {
  after: number;
  limit: number;
}

export const HISTORY_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'from',
    description: 'The first sequence.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999, default: 1 },
  },
  {
    name: 'to',
    description: 'The last sequence; nothing: to the head.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
  },
  LIMIT_PARAMETER,
];

export interface HistoryQuery {
  from: number;
  to: number;
  limit: number;
}

export function historyQuery(c: Context): HistoryQuery {
  const from = sequenceQuery(c, 'from') ?? 1;
  const to = sequenceQuery(c, 'to') ?? Number.MAX_SAFE_INTEGER;
  if (from > to) throw fail('SCHEMA_VALIDATION_FAILED', 'to must not be less than from');
  return { from, to, limit: limitQuery(c) };
}

function sequenceQuery(c: Context, name: string): number | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  const sequence = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (sequence >= 1) return sequence;
  throw fail('SCHEMA_VALIDATION_FAILED', `${name} must be a whole number of at least 1`);
}

/** For logs that are numbered from 1: `after` is the last number that the caller has. */
export function numberedPageQuery(c: Context): NumberedPageQuery {
  const text = c.req.query('after') ?? '0';
  const after = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (after === undefined) throw fail('SCHEMA_VALIDATION_FAILED', 'after must be a whole number of at least 0');
  return { after, limit: limitQuery(c) };
}

function limitQuery(c: Context): number {
  const text = c.req.query('limit');
  if (text === undefined) return PAGE_LIMIT_DEFAULT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_LIMIT_MAXIMUM) return limit;
  throw fail('SCHEMA_VALIDATION_FAILED', `limit must be a whole number from 1 to ${PAGE_LIMIT_MAXIMUM}`);
}

export function stateParameter(known: readonly string[]): QueryParameter {
  return {
    name: 'state',
    description: 'Only these states, separated by commas.',
    schema: { type: 'array', minItems: 1, items: { type: 'string', enum: known } },
    isList: true,
  };
}

/** `?state=open,queued`, out of the given words. */
export function stateQuery(c: Context, known: readonly string[]): readonly string[] | undefined {
  const text = c.req.query('state');
  if (text === undefined) return undefined;
  const states = text.split(',');
  if (states.every((state) => known.includes(state))) return states;
  throw fail('SCHEMA_VALIDATION_FAILED', `state must be one or more of ${known.join(', ')}`);
}
