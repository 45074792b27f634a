// The operator's token: compared without telling where it differs. Without one configured, the operator API is not there.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { fail } from '../errors.ts';
import { bearerToken } from '../tenancy.ts';

export function operatorOnly(operatorToken: string | undefined): MiddlewareHandler {
  return async (c, next) => {
    if (operatorToken === undefined) throw fail('PROTOCOL_VIOLATION', 'no such path or method', { status: 404 });
    const given = bearerToken(c) ?? '';
    if (!timingSafeEqual(digest(given), digest(operatorToken))) {
      throw fail('AUTH_REQUIRED', 'the operator token is required');
    }
    await next();
  };
}

/** Equal lengths, so that not even the length of the token can be measured. */
function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
