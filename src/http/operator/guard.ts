// The operator's token: compared without telling where it differs. Without one configured, the operator API is not there.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Rate } from '../../domain/policy.ts';
import { refuse } from '../../protocol/refusals.ts';
import { fail, HttpRefusal } from '../errors.ts';
import type { HeldAnswers } from '../limits/held-answers.ts';
import { TokenBuckets } from '../limits/token-buckets.ts';
import { bearerToken } from '../tenancy.ts';

/** Wrong tokens, of everybody together: more than a person mistypes. Whoever has the right one is never in the way. */
export const OPERATOR_GUESSES: Rate = { perSecond: 1, burst: 20 };

export interface GuardParts {
  operatorToken: string | undefined;
  monotonic: () => number;
  held: HeldAnswers;
}

export function operatorOnly({ operatorToken, monotonic, held }: GuardParts): MiddlewareHandler {
  const wanted = operatorToken === undefined ? undefined : digest(operatorToken);
  const guesses = new TokenBuckets(monotonic);
  const draw = { name: 'guess', rate: OPERATOR_GUESSES };
  return async (c, next) => {
    if (wanted === undefined) throw fail('PROTOCOL_VIOLATION', 'no such path or method', { status: 404 });
    if (!timingSafeEqual(digest(bearerToken(c) ?? ''), wanted)) {
      const retryAfterMs = guesses.take([draw]);
      if (retryAfterMs === 0) throw fail('AUTH_REQUIRED', 'the operator token is required');
      const refusal = refuse('RATE_LIMITED', 'too many requests without the operator token', { retryAfterMs });
      throw new HttpRefusal(await held.hold(refusal, draw.name));
    }
    await next();
  };
}

/** Equal lengths, so that not even the length of the token can be measured. */
function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
