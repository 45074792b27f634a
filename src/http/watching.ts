// Around every request: what it is called in logs and traces, and what is told of it when it is answered.
import { randomUUID } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from '../platform/logger.ts';
import { readTraceParent } from '../platform/tracing.ts';
import type { ErrorCode } from '../protocol/refusals.ts';
import type { HttpObserver } from './observer.ts';

/** What a proxy or a client calls its request; anything else is called by us. */
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:@=+-]{0,127}$/;

/** For every line that is logged about a request. */
export interface RequestNames {
  requestId: string;
  traceId?: string;
}

export function namesOf(c: Context): RequestNames {
  return (c as Context<Watched>).get('names');
}

/** Called where a refusal becomes an error document. */
export function tellCode(c: Context, code: ErrorCode): void {
  (c as Context<Watched>).set('code', code);
}

interface Watched {
  Variables: { names: RequestNames; code?: ErrorCode };
}

export function watched(observer: HttpObserver, logger: Logger): MiddlewareHandler<Watched> {
  return (c, next) =>
    observer.request(readTraceParent(c.req.header('traceparent')), async (traceId) => {
      const began = performance.now();
      const given = c.req.header('x-request-id');
      const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
      c.set('names', traceId === undefined ? { requestId } : { requestId, traceId });
      // Said before there is an answer: one that is changed afterwards is built a second time, as a stream.
      c.header('X-Request-Id', requestId);
      await next();
      const { method } = c.req;
      const { status } = c.res;
      const route = routePath(c);
      const code = c.get('code');
      observer.answered({ method, route, status, code, began, requestId });
      if (!logger.isLevelEnabled('debug')) return;
      const milliseconds = Math.round(performance.now() - began);
      logger.debug({ ...c.get('names'), method, route, path: c.req.path, status, code, milliseconds }, 'request');
    });
}
