// The limits of the tenant API as middleware: after the token, before everything else.
import type { MiddlewareHandler } from 'hono';
import { HttpRefusal } from '../errors.ts';
import type { TenantEnv } from '../tenancy.ts';
import type { HeldAnswers } from './held-answers.ts';
import type { RequestLimits } from './request-limits.ts';

/**
 * What changes nothing is a read, unknown paths included. The body of a limited request stays unread: the server reads
 * past it when the answer is out, so the connection goes on.
 */
export function limitRequests(limits: RequestLimits, held: HeldAnswers): MiddlewareHandler<TenantEnv> {
  return async (c, next) => {
    const { organizationId, principal } = c.get('bearer');
    const limited = c.req.method === 'GET' || c.req.method === 'HEAD' ? 'reads' : 'commands';
    const refusal = await limits.admit(limited, { organizationId, principal });
    if (refusal) throw new HttpRefusal(await held.hold(refusal, organizationId));
    await next();
  };
}
