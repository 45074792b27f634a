// How many logins of an Organization failed lately. Anybody can make one fail, in anybody's name, so this shuts nobody out:
// beyond the limit a login is only looked at more cheaply (login.ts). The numbers are the service's own and the same for
// every slug: a tenant's would tell which slugs are tenants.
import type { Rate } from '../../domain/policy.ts';
import { TokenBuckets, type Draw } from './token-buckets.ts';

/** Each costs the database a write and two looks. A person, or a fleet after a key was revoked, stays below. */
export const LOGIN_FAILURES: Rate = { perSecond: 10, burst: 100 };

export class LoginFailures {
  private readonly buckets: TokenBuckets;

  constructor(monotonic: () => number) {
    this.buckets = new TokenBuckets(monotonic);
  }

  /** Milliseconds until one more may fail; 0: now. */
  wait(slug: string): number {
    return this.buckets.wait([drawOf(slug)]);
  }

  count(slug: string): void {
    this.buckets.spend([drawOf(slug)], 1);
  }
}

function drawOf(slug: string): Draw {
  return { name: slug.slice(0, SLUG_MAXIMUM), rate: LOGIN_FAILURES };
}

/** One character more than a slug can have: longer ones name nothing, and need no bucket each. */
const SLUG_MAXIMUM = 64;
