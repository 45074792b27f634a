// Is the key that a token was given for still valid? Asked of the database at most every few seconds per key, so that a
// revocation ends tokens soon and a request normally costs no look-up.
import type { OrganizationStore } from '../../store/port.ts';
import { principalKey, samePrincipal } from '../../protocol/principals.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import { keyStatusAt, type KeyBinding } from '../../trust/evidence.ts';
import type { TokenBearer } from './tokens.ts';

/** Milliseconds that an answer stands: the longest that a token outlives its key, in processes that did not revoke it. */
export const RECHECK_MILLISECONDS = 5_000;
/** Keys in use at the same time, about 200 bytes each. */
const CACHE_MAXIMUM = 20_000;

export type KeyHolder = Pick<TokenBearer, 'organizationId' | 'keyId' | 'principal'>;

export class KeyWatch {
  private readonly seen = new BoundedCache<{ holder: string; binding: KeyBinding | undefined; askedAt: number }>(
    CACHE_MAXIMUM,
  );
  private readonly organizations: OrganizationStore;

  constructor(organizations: OrganizationStore) {
    this.organizations = organizations;
  }

  /** `now`: milliseconds of the host clock, for the age of what is remembered. Validity is judged by the database's. */
  async isValid(bearer: KeyHolder, now: number): Promise<boolean> {
    const cacheKey = `${bearer.organizationId} ${bearer.keyId}`;
    const holder = principalKey(bearer.principal);
    const seen = this.seen.get(cacheKey);
    if (seen?.holder === holder && isFresh(now - seen.askedAt)) return seen.binding !== undefined;
    const binding = await this.validBinding(bearer);
    this.seen.set(cacheKey, { holder, binding, askedAt: now });
    return binding !== undefined;
  }

  /** As it was a few seconds ago at most. What is not bound is not kept: anybody can ask for any number of those. */
  async recentBinding(holder: KeyHolder, now: number): Promise<KeyBinding | undefined> {
    const cacheKey = `${holder.organizationId} ${holder.keyId}`;
    const seen = this.seen.get(cacheKey);
    const isSame = seen?.holder === principalKey(holder.principal);
    if (isSame && isFresh(now - seen.askedAt)) return seen.binding;
    const binding = await this.validBinding(holder);
    if (binding) this.seen.set(cacheKey, { holder: principalKey(holder.principal), binding, askedAt: now });
    return binding;
  }

  /** Asks the database now: the binding, when it is this principal's and valid at this moment. */
  async validBinding({ organizationId, keyId, principal }: KeyHolder): Promise<KeyBinding | undefined> {
    const [evidence, now] = await Promise.all([
      this.organizations.keyEvidence(organizationId, [keyId]),
      this.organizations.now(),
    ]);
    const found = evidence.get(keyId);
    if (!found?.binding || !samePrincipal(found.binding.principal, principal)) return undefined;
    const binding: KeyBinding = { ...found.binding, history: found.validity };
    return keyStatusAt(binding, now) === 'valid' ? binding : undefined;
  }

  /** This process changed the key: its tokens are judged anew at once. */
  forget(organizationId: string, keyId: string): void {
    this.seen.delete(`${organizationId} ${keyId}`);
  }
}

/** A look from the future is none: the clock was set back since, and would let it stand for as long. */
function isFresh(age: number): boolean {
  return age >= 0 && age < RECHECK_MILLISECONDS;
}
