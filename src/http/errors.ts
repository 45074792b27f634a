// Every "no" of this API is the protocol's error document. A handler throws HttpRefusal; the app turns it into a response.
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ProtocolError } from '../protocol/documents/error.ts';
import { isRetryable, refuse, type ErrorCode, type Refusal } from '../protocol/refusals.ts';
import { timestampFromMillis } from '../protocol/timestamps.ts';
import { STATUS_OF_CODE } from './statuses.ts';
import { tellCode } from './watching.ts';

/** Longest text that the error schema takes. */
const MESSAGE_MAXIMUM = 2_000;

export interface RefusalContext {
  relatedActionId?: string;
  groupId?: string;
  occurredAt?: string;
  /** Instead of the code's own: only where HTTP itself has a word for it (404 for no such route, 413, 500). */
  status?: ContentfulStatusCode;
  /** With 415: the type that would be taken, where it is not JSON. */
  accept?: string;
}

export class HttpRefusal extends Error {
  readonly refusal: Refusal;
  readonly context: RefusalContext;

  constructor(refusal: Refusal, context: RefusalContext = {}) {
    super(refusal.message);
    this.name = 'HttpRefusal';
    this.refusal = refusal;
    this.context = context;
  }
}

export function fail(code: ErrorCode, message: string, context: RefusalContext = {}): HttpRefusal {
  return new HttpRefusal(refuse(code, message), context);
}

/** Hands on a value, or throws the refusal that stands in its place. */
export function orThrow<Value extends object>(value: Value | Refusal): Value {
  if ('refused' in value && value.refused === true) throw new HttpRefusal(value);
  return value as Value;
}

/** An object inside a Group that the caller may see, which does not exist or is not shown: both look alike. */
export function notFound(what: string): HttpRefusal {
  return fail('INVALID_COMMAND', `no such ${what}`, { status: 404 });
}

/** The one answer to an unknown Organization, a missing token and a bad one: equal to the byte, but for the time. */
export function authRequired(): HttpRefusal {
  return fail('AUTH_REQUIRED', 'a valid token of this Organization is required');
}

/** One answer for whatever is wrong with a login: key, principal, challenge, its age or its use. */
export function loginRefused(): HttpRefusal {
  return fail('AUTH_INVALID_SIGNATURE', 'the answer to the challenge could not be accepted');
}

/** Milliseconds when nobody knows better; a database that is gone is rarely back sooner. */
const RETRY_AFTER_MILLISECONDS = 1_000;

/** Whoever is told to send the same bytes again is told when: without it, all would at once. */
function retryAfterOf(refusal: Refusal): number | undefined {
  return refusal.retryAfterMs ?? (isRetryable(refusal) ? RETRY_AFTER_MILLISECONDS : undefined);
}

export function errorDocument(refusal: Refusal, context: RefusalContext = {}): ProtocolError {
  const { relatedActionId, groupId, occurredAt } = context;
  const { expectedRevision, currentRevision, snapshotArtifactHash, details } = refusal;
  const retryAfterMs = retryAfterOf(refusal);
  return {
    code: refusal.code,
    message: refusal.message.slice(0, MESSAGE_MAXIMUM),
    retryable: isRetryable(refusal),
    ...(relatedActionId !== undefined && { relatedActionId }),
    ...(groupId !== undefined && { groupId }),
    ...(expectedRevision !== undefined && { expectedRevision }),
    ...(currentRevision !== undefined && { currentRevision }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(snapshotArtifactHash !== undefined && { snapshotArtifactHash }),
    ...(details !== undefined && { details: details }),
    occurredAt: occurredAt ?? timestampFromMillis(Date.now()),
  };
}

export function refusalResponse(c: Context, refusal: Refusal, context: RefusalContext = {}): Response {
  tellCode(c, refusal.code);
  if (refusal.code === 'AUTH_REQUIRED') c.header('WWW-Authenticate', 'Bearer');
  const retryAfterMs = retryAfterOf(refusal);
  if (retryAfterMs !== undefined) c.header('Retry-After', String(Math.ceil(retryAfterMs / 1_000)));
  if (context.status === 415) c.header('Accept', context.accept ?? 'application/json');
  // What is left of the body stays unread and the connection ends, so a client must not put its next request on it.
  if (context.status === 413) c.header('Connection', 'close');
  return c.json(errorDocument(refusal, context), context.status ?? STATUS_OF_CODE[refusal.code]);
}
