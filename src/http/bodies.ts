// Request bodies: bounded, of the right type, strict JSON, of a known shape. Whatever a client gets wrong here is its own
// mistake and never a 5xx.
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { describeFault } from '../protocol/documents/catalogue.ts';
import { MAX_JSON_BYTES, parseStrictJson } from '../wire/strict-json.ts';
import { fail } from './errors.ts';

/** A Command: as large as one document of the wire may be. */
export const COMMAND_BODY_MAXIMUM = MAX_JSON_BYTES;
/** A challenge and its answer take well under 4 kB; before authentication nobody may make us read more. */
export const LOGIN_BODY_MAXIMUM = 16 * 1_024;
/** An Agent Card with many capabilities, or a policy that names many services. */
export const OPERATOR_BODY_MAXIMUM = 256 * 1_024;

/** A declared length is judged by itself: opening the body as a stream first costs more than reading it whole later. */
export function limitBody(maximum: number): MiddlewareHandler {
  const tooLarge = () => fail('PROTOCOL_VIOLATION', `the body is larger than ${maximum} bytes`, { status: 413 });
  const limitStream = bodyLimit({
    maxSize: maximum,
    onError: () => {
      throw tooLarge();
    },
  });
  return async (c, next) => {
    const declared = c.req.header('content-length');
    if (declared === undefined || c.req.header('transfer-encoding') !== undefined) {
      // Reads all of the body. What fails in a handler behind it is answered there and does not come back here.
      return limitStream(c, next).catch(explainBody);
    }
    if (!(Number(declared) <= maximum)) throw tooLarge();
    return next();
  };
}

/** The exact bytes. A body of another content type is not read. */
export async function jsonBytes(c: Context): Promise<Uint8Array> {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw fail('PROTOCOL_VIOLATION', 'the Content-Type must be application/json', { status: 415 });
  }
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw fail('PROTOCOL_VIOLATION', 'no Content-Encoding is taken', { status: 415 });
  return new Uint8Array(await c.req.arrayBuffer().catch(explainBody));
}

/** A client that hung up is its own loss, and nobody is there to read this. */
function explainBody(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
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
