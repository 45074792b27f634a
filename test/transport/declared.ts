// Every answer that a transport suite gets is held against what its route declares: status, headers, and the body,
// strictly, so that neither the answers nor their description can drift.
import type { Hono } from 'hono';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import type { ProtocolError } from '../../src/protocol/documents/error.ts';
import { refusalsOf } from '../../src/http/openapi/refusals.ts';
import { declaredRoutes, patternOf, type DeclaredRoute } from '../../src/http/openapi/route-table.ts';
import { STATUS_OF_CODE } from '../../src/http/statuses.ts';

interface Given {
  status: number;
  headers: Headers;
  text: string;
}

/** Throws, with what does not fit. `path` as it was asked for, query included; dots in it lead where they lead. */
export function checkDeclared(app: Hono, method: string, path: string, answer: Given): void {
  const fault = faultOf(app, method, new URL(path, 'http://localhost').pathname, answer);
  if (fault !== undefined) throw new Error(`${method} ${path} → ${answer.status}: ${fault}\n${answer.text}`);
}

function faultOf(app: Hono, method: string, path: string, answer: Given): string | undefined {
  const route = routeOf(app, method, path);
  if (answer.headers.get('cache-control') === null) return 'no Cache-Control';
  if (method === 'HEAD') return answer.text === '' ? undefined : 'a body in the answer to HEAD';
  const declared = route?.operation.answers[answer.status];
  if (!declared) return refusalFault(answer, codesOf(route, answer.status));
  if (!declared.schema) return undefined;
  if (answer.headers.get('content-type') !== 'application/json') return 'no application/json';
  const parsed = declared.schema.safeParse(JSON.parse(answer.text));
  return parsed.success ? undefined : JSON.stringify(parsed.error.issues);
}

/** Of a path or method that is not there: what the application itself says, or who asks first for a token. */
function codesOf(route: DeclaredRoute | undefined, status: number): readonly string[] {
  if (route) return refusalsOf(route.operation).get(status) ?? [];
  if (status === 401) return ['AUTH_REQUIRED'];
  if (status === 429) return ['RATE_LIMITED'];
  return status === 404 || status === 405 ? ['PROTOCOL_VIOLATION'] : [];
}

/** An error document with one of these codes, and the headers that clients act on. */
export function refusalFault({ status, headers, text }: Given, codes: readonly string[]): string | undefined {
  if (headers.get('content-type') !== 'application/json') return 'no application/json';
  const check = checkDocument('error', JSON.parse(text) as unknown);
  if (!check.valid) return `no error document: ${check.fault}`;
  const { code, retryAfterMs } = check.document;
  if (!codes.includes(code)) return `${code} is not declared`;
  const seconds = retryAfterMs === undefined ? null : String(Math.ceil(retryAfterMs / 1_000));
  if (headers.get('retry-after') !== seconds) return 'Retry-After and retryAfterMs differ';
  if ((headers.get('www-authenticate') === 'Bearer') !== (status === 401)) return 'WWW-Authenticate';
  if ((headers.get('allow') === null) === (status === 405)) return 'Allow';
  return retryFault(check.document);
}

/** Who is told to send the same bytes again is told when. */
function retryFault({ code, retryable, retryAfterMs }: ProtocolError): string | undefined {
  if (retryable !== (retryAfterMs !== undefined)) return `${code}: retryable and retryAfterMs do not go together`;
  if (STATUS_OF_CODE[code] === undefined) return `${code} has no status`;
  return undefined;
}

const known = new WeakMap<Hono, (DeclaredRoute & { pattern: RegExp })[]>();

export function routeOf(app: Hono, method: string, path: string): DeclaredRoute | undefined {
  const routes =
    known.get(app) ?? declaredRoutes(app.routes).map((route) => ({ ...route, pattern: patternOf(route.path) }));
  known.set(app, routes);
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  return routes.find((route) => route.method === asked && route.pattern.test(path));
}
