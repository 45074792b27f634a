// What comes over a connection and never becomes a request that the API sees: no HTTP, too much of it, too slow, or for a
// host that cannot be. The error document is the answer here as well, and the connection ends with it.
import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import { refuse } from '../protocol/refusals.ts';
import { errorDocument } from './errors.ts';

interface Unreadable {
  status: number;
  message: string;
  /** Milliseconds; it may be nobody's fault, and the same request is welcome after it. */
  retryAfterMs?: number;
}

const NO_HTTP: Unreadable = { status: 400, message: 'this is no request of HTTP/1.1' };
const BAD_TARGET: Unreadable = { status: 400, message: 'the Host or path of the request is none' };
const EXPECTATION: Unreadable = { status: 417, message: 'Expect can only be 100-continue' };
const TUNNEL: Unreadable = { status: 404, message: 'this service makes no tunnel' };
/** The codes of the platform's parser that say more than that. */
const BY_CODE: Readonly<Record<string, Unreadable>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the head of the request is too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions of the body are too large' },
  // Perhaps it came and we were not there to read it: a process that was held finds its time run out when it wakes.
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not come in time', retryAfterMs: 1_000 },
};

/** As everything else that we answer. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};

/** `underWay`: the answers that a connection still waits for. */
export function refuseUnreadable(server: Server, underWay: (connection: Duplex) => readonly ServerResponse[]): void {
  server.on('clientError', (error: NodeJS.ErrnoException, connection) =>
    refuseRest(connection, underWay(connection), BY_CODE[error.code ?? ''] ?? NO_HTTP),
  );
  server.on('checkExpectation', (_request, answer: ServerResponse) => {
    const body = documentOf(EXPECTATION);
    answer.writeHead(EXPECTATION.status, { ...HEADERS, 'Content-Length': Buffer.byteLength(body) }).end(body);
  });
  server.on('connect', (_request, connection) => {
    // The platform hands the connection over with nobody to hear of its errors, and an error unheard ends the process.
    connection.on('error', () => connection.destroy());
    refuseRest(connection, underWay(connection), TUNNEL);
  });
}

function refuseRest(connection: Duplex, answers: readonly ServerResponse[], unreadable: Unreadable): void {
  const last = answers.at(-1);
  // The platform takes what comes after whole requests for the answer to the first of them: a client would believe that
  // it was refused. So those are answered, and what came after them is not.
  if (last?.req.complete) return endAfter(connection, answers);
  const canBeTold = answers.length <= 1 && last?.headersSent !== true;
  if (canBeTold && connection.writable) connection.write(textOf(unreadable));
  endOf(connection);
}

/** For what the adapter throws before there is a request; the API itself never throws. */
export function unreadableResponse(error: unknown): Response {
  if (error instanceof RequestError) {
    return new Response(documentOf(BAD_TARGET), { status: BAD_TARGET.status, headers: HEADERS });
  }
  const refusal = refuse('INTERNAL_ERROR', 'the service failed');
  return new Response(JSON.stringify(errorDocument(refusal)), { status: 500, headers: HEADERS });
}

function endAfter(connection: Duplex, answers: readonly ServerResponse[]): void {
  let left = answers.length;
  for (const answer of answers) {
    answer.shouldKeepAlive = false;
    answer.once('close', () => {
      left -= 1;
      if (left === 0) endOf(connection);
    });
  }
}

/** When all that was written has gone out; whoever does not read it is ended by the silence that is allowed. */
function endOf(connection: Duplex): void {
  if ('destroySoon' in connection) (connection as Duplex & { destroySoon: () => void }).destroySoon();
  else connection.destroy();
}

function documentOf({ message, retryAfterMs }: Unreadable): string {
  const isRetryable = retryAfterMs !== undefined;
  const refusal = isRetryable
    ? refuse('INTERNAL_ERROR', message, { retryAfterMs })
    : refuse('PROTOCOL_VIOLATION', message);
  return JSON.stringify(errorDocument(refusal));
}

function textOf(unreadable: Unreadable): string {
  const { status } = unreadable;
  const body = documentOf(unreadable);
  const { retryAfterMs } = unreadable;
  const headers = {
    ...HEADERS,
    ...(retryAfterMs !== undefined && { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) }),
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
