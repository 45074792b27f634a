// Request bodies: bounded, of the right type, strict JSON, of a known shape. Whatever a client gets wrong here is its own
// mistake and never a 5xx.
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { describeFault } from '../protocol/documents/catalogue.ts';
import { MAX_JSON_BYTES, parseStrictJson } from '../wire/strict-json.ts';
import { fail, type HttpRefusal } from './errors.ts';

/** A Command: as large as one document of the wire may be. */
export const COMMAND_BODY_MAXIMUM = MAX_JSON_BYTES;
/** A challenge and its answer take well under 4 kB; before authentication nobody may make us read more. */
export const LOGIN_BODY_MAXIMUM = 16 * 1_024;
/** An Agent Card with many capabilities, or a policy that names many services. */
export const OPERATOR_BODY_MAXIMUM = 256 * 1_024;

/** The one type of contents, in and out: whatever they are, no browser shall take them for something to run. */
export const BYTES = 'application/octet-stream';
const JSON_TYPE = 'application/json';

/** A declared length is judged by itself: opening the body as a stream first costs more than reading it whole later. */
export function limitBody(maximum: number): MiddlewareHandler {
  const limitStream = bodyLimit({
    maxSize: maximum,
    onError: () => {
      throw tooLarge(maximum);
    },
  });
  return async (c, next) => {
    const declared = c.req.header('content-length');
    if (declared === undefined || c.req.header('transfer-encoding') !== undefined) {
      // Reads all of the body. What fails in a handler behind it is answered there and does not come back here.
      return limitStream(c, next).catch(explainBody);
    }
    if (!(Number(declared) <= maximum)) throw tooLarge(maximum);
    return next();
  };
}

export function tooLarge(maximum: number): HttpRefusal {
  return fail('PROTOCOL_VIOLATION', `the body is larger than ${maximum} bytes`, { status: 413 });
}

/** A body of another content type is not read, and an encoded one is another. */
function checkContentType(c: Context, accept: string): void {
  const [type = ''] = (c.req.header('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== accept) {
    throw fail('PROTOCOL_VIOLATION', `the Content-Type must be ${accept}`, { status: 415, accept });
  }
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (encoding === 'identity') return;
  throw fail('PROTOCOL_VIOLATION', 'no Content-Encoding is taken', { status: 415, accept });
}

/** The length that is declared; undefined: the bytes say themselves when they end, and are counted as they come. */
export function checkBytesHead(c: Context, maximum: number): number | undefined {
  checkContentType(c, BYTES);
  // Who sends a part and is told that it is stored would believe that the part was (RFC 9110, 14.5).
  if (c.req.header('content-range') !== undefined) throw fail('PROTOCOL_VIOLATION', 'a part of a body is not taken');
  const declared = c.req.header('content-length');
  if (declared === undefined || c.req.header('transfer-encoding') !== undefined) return undefined;
  if (!/^\d+$/.test(declared)) throw fail('PROTOCOL_VIOLATION', 'the Content-Length is none');
  if (Number(declared) > maximum) throw tooLarge(maximum);
  return Number(declared);
}

/** As they come. Who stops reading leaves the rest to the server: to end the stream would end the connection unanswered. */
export async function* streamedBytes(c: Context): AsyncGenerator<Uint8Array> {
  const body = c.req.raw.body as ReadableStream<Uint8Array> | null;
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(brokenBody);
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** The exact bytes. */
export async function jsonBytes(c: Context): Promise<Uint8Array> {
  checkContentType(c, JSON_TYPE);
  return new Uint8Array(await c.req.arrayBuffer().catch(explainBody));
}

/** A client that hung up is its own loss, and nobody is there to read this. */
function explainBody(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  return brokenBody();
}

function brokenBody(): never {
  throw fail('PROTOCOL_VIOLATION', 'the body did not come whole');
}

export async function jsonBody<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const json = parseStrictJson(await jsonBytes(c));
  if (!json.ok) throw fail('PROTOCOL_VIOLATION', `the body is not exactly one strict JSON value: ${json.fault}`);
  if (json.dataModelFault)
    throw fail('PROTOCOL_VIOLATION', `the body holds what cannot be kept: ${json.dataModelFault}`);
  const parsed = schema.safeParse(json.value);
  if (!parsed.success) throw fail('SCHEMA_VALIDATION_FAILED', describeFault(parsed.error).fault);
  return parsed.data;
}
