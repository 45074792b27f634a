// The rates of each Organization's policy, kept for a few seconds, so that a request costs no look-up and a change of the
// policy still counts soon.
import type { RequestRates } from '../../domain/policy.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { OrganizationStore } from '../../store/port.ts';

/** Milliseconds that rates stand in processes that did not change the policy themselves. As of keys: see key-watch.ts. */
export const RECHECK_MILLISECONDS = 5_000;
/** Organizations at work at the same time, about 500 bytes each. */
const CACHE_MAXIMUM = 10_000;

interface Known {
  rates: RequestRates;
  askedAt: number;
  /** Somebody is asking for them again. */
  asking: boolean;
}

export class TenantRates {
  private readonly known = new BoundedCache<Known>(CACHE_MAXIMUM);
  private readonly organizations: OrganizationStore;
  private readonly monotonic: () => number;

  constructor(organizations: OrganizationStore, monotonic: () => number) {
    this.organizations = organizations;
    this.monotonic = monotonic;
  }

  /**
   * At once when they are known, old ones included: nobody waits for the look that follows, and a database that does not
   * answer leaves them as they are. A promise for the first one who asks.
   */
  of(organizationId: OrganizationId): RequestRates | Promise<RequestRates> {
    const known = this.known.get(organizationId);
    if (!known) return this.ask(organizationId);
    if (!known.asking && this.monotonic() - known.askedAt >= RECHECK_MILLISECONDS) {
      known.asking = true;
      this.ask(organizationId).catch(() => Object.assign(known, { asking: false, askedAt: this.monotonic() }));
    }
    return known.rates;
  }

  /** This process changed the policy: it counts from now on. */
  forget(organizationId: OrganizationId): void {
    this.known.delete(organizationId);
  }

  private async ask(organizationId: OrganizationId): Promise<RequestRates> {
    const askedAt = this.monotonic();
    const { rates } = await this.organizations.policy(organizationId);
    this.known.set(organizationId, { rates, askedAt, asking: false });
    return rates;
  }
}
