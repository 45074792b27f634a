// What one route promises, declared beside the route: who may ask, with what, and every answer that can come. The
// document of the API is made of these declarations, and no route gets into the application without one.
import type { z } from 'zod';
import type { ErrorCode } from '../../protocol/refusals.ts';

/** Who may ask: anybody, who holds a token of the Organization, or who holds the operator's token. */
export type Access = 'public' | 'tenant' | 'operator';

export const TAGS = {
  Login: 'From a registered key to a token that reads, submits and, for Agents, opens a session.',
  Commands: 'The one way to change anything: signed Commands.',
  Own: 'What callers read about themselves, Agent Cards and, for auditors, what was refused.',
  Contents: 'The bytes that manifests name, by their hash.',
  Groups: 'What a Membership lets its holder see of one Group.',
  Operator: 'Tenants, their principals, keys and policy.',
  Service: 'Is it alive, is it ready, and what can it do.',
} as const;
export type Tag = keyof typeof TAGS;

export type JsonSchema = Record<string, unknown>;

export interface QueryParameter {
  name: string;
  description: string;
  schema: JsonSchema;
  /** `a,b,c` in one value. */
  isList?: boolean;
}

export type Body = JsonBody | BytesBody;

/** Of bytes that mean nothing here. */
export interface BytesBody {
  description: string;
  contentType: string;
  /** The largest body that is read. */
  bytesMaximum: number;
}

export interface JsonBody {
  description: string;
  /** The very schema that the handler validates with; of a Command, the schema of its envelope. */
  schema: z.ZodType;
  /** The largest body that is read. */
  bytesMaximum: number;
  example: unknown;
}

export interface Answer {
  description: string;
  /** Of a JSON body. */
  schema?: z.ZodType;
  /** Of bodies that are no JSON. With neither, there is no body. */
  contentTypes?: readonly string[];
  headers?: readonly HeaderName[];
}

export const HEADERS = {
  ETag: { description: 'Names exactly this version; send it back as `If-None-Match`.', schema: { type: 'string' } },
  'Cache-Control': {
    description: '`no-store`, except for the description of the API itself, which holds nothing of any tenant.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    description: 'Names this request in the log: its own `X-Request-Id`, if it fits, else a fresh one.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Whole seconds after which another attempt makes sense: `retryAfterMs` rounded up.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: '`Bearer`: get a token and ask again.', schema: { type: 'string' } },
} as const;
export type HeaderName = keyof typeof HEADERS;

/** On every answer. */
export const COMMON_HEADERS: readonly HeaderName[] = ['Cache-Control', 'X-Request-Id'];

/** A code with its own status, or with the one that HTTP itself has a word for. */
export type Refused = ErrorCode | { code: ErrorCode; status: number };

export interface Operation {
  /** Unique; what generated clients call it. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  access: Access;
  query?: readonly QueryParameter[];
  body?: Body;
  /** By status. */
  answers: Readonly<Record<number, Answer>>;
  /** It asks nothing that can fail. */
  faultless?: true;
  /** Beside those that follow from `access`, `query` and `body` (refusals.ts). */
  refusals?: readonly Refused[];
}

const declarations = new WeakMap<object, Operation>();

/** Ties the declaration to the handler, which stays what it was: nothing is added to the way of a request. */
export function declared<Handler extends object>(operation: Operation, handler: Handler): Handler {
  declarations.set(handler, operation);
  return handler;
}

export function operationOf(handler: object): Operation | undefined {
  return declarations.get(handler);
}
