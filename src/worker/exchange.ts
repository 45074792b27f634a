// One HTTP exchange with the authority as an Outcome. It knows bytes, status codes and error documents, no endpoint.

import { checkDocument } from '../protocol/documents/catalogue.ts';
import { parseStrictJson } from '../wire/strict-json.ts';
import { done, failed, type Outcome } from './outcome.ts';

/** Longest wait for one answer: the authority answers or refuses long before. */
const TIMEOUT_MS = 30_000;
/** A content at its usual bound is the largest answer; a page of 200 Events stays far below. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;
const MAX_ANSWER_DEPTH = 80;
const JSON_TYPE = 'application/json';
const BYTES = 'application/octet-stream';

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly token?: string;
  /** JSON text or its bytes; a signed document goes out exactly as it was signed. */
  readonly body?: string | Uint8Array;
  /** Both ways bytes that are no JSON: the answer has no `value`, but where it is refused. */
  readonly ofBytes?: boolean;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly value: unknown;
  /** The body as it came. */
  readonly bytes: Uint8Array;
}

export async function exchange(request: Exchange): Promise<Outcome<Answer>> {
  const answer = await send(request);
  if (!answer.ok) return answer;
  const { status, isJson, bytes } = answer.value;
  if (request.ofBytes === true && status === 200 && !isJson) return done({ value: undefined, bytes });
  if (status >= 200 && status < 300) {
    const json = parseStrictJson(bytes, { maxBytes: MAX_ANSWER_BYTES, maxDepth: MAX_ANSWER_DEPTH });
    if (json.ok) return done({ value: json.value, bytes });
    if (bytes.byteLength === 0) return done({ value: undefined, bytes });
    return failed({ kind: 'unreadable', status, message: `the answer is no strict JSON: ${json.fault}` });
  }
  return failedAs(status, bytes);
}

function failedAs(status: number, bytes: Uint8Array) {
  const json = parseStrictJson(bytes, { maxBytes: MAX_ANSWER_BYTES, maxDepth: MAX_ANSWER_DEPTH });
  const check = json.ok ? checkDocument('error', json.value) : undefined;
  if (!check?.valid) return failed({ kind: 'unreadable', status, message: `HTTP ${status} without an error document` });
  const { code, message } = check.document;
  return failed({ kind: 'refused', code, status, message, error: check.document });
}

interface Received {
  status: number;
  isJson: boolean;
  bytes: Uint8Array;
}

async function send(request: Exchange): Promise<Outcome<Received>> {
  const { method, url, token, body, signal, ofBytes } = request;
  const contentType = ofBytes === true ? BYTES : JSON_TYPE;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: ofBytes === true ? `${BYTES}, ${JSON_TYPE}` : JSON_TYPE,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      redirect: 'error',
    });
    const bytes = await readBounded(response);
    const isJson = response.headers.get('content-type') === JSON_TYPE;
    if (bytes) return done({ status: response.status, isJson, bytes });
    return failed({ kind: 'unreadable', status: response.status, message: 'the answer is too large' });
  } catch (error) {
    if (signal?.aborted) return failed({ kind: 'aborted', message: 'the caller gave up' });
    return failed({ kind: 'unreachable', message: reasonOf(error) });
  }
}

async function readBounded(response: Response): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined; // leaving the loop cancels the rest
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** fetch hides the network's own words in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** The body as it comes, for what is larger than one answer; reading it may fail as the network does. */
export async function openStream(
  request: Omit<Exchange, 'method' | 'body'>,
): Promise<Outcome<AsyncIterable<Uint8Array>>> {
  const { url, token, signal } = request;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      redirect: 'error',
    });
    if (response.status === 200) return done((response.body ?? []) as AsyncIterable<Uint8Array>);
    const bytes = await readBounded(response);
    return failedAs(response.status, bytes ?? new Uint8Array());
  } catch (error) {
    if (signal?.aborted) return failed({ kind: 'aborted', message: 'the caller gave up' });
    return failed({ kind: 'unreachable', message: reasonOf(error) });
  } finally {
    clearTimeout(timer);
  }
}
