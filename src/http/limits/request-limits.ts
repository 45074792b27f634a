// May this request be looked at at all? Asked once it is known who asks, and before the body is read, a turn is taken or
// a signature is checked (docs/decisions/0015). In memory: each process of a deployment counts for itself.
import type { RequestRates, SharedRate } from '../../domain/policy.ts';
import type { Logger } from '../../platform/logger.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import { principalKey, type Principal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import type { OrganizationStore } from '../../store/port.ts';
import { TenantRates } from './tenant-rates.ts';
import { TokenBuckets, type Draw } from './token-buckets.ts';

export type Limited = keyof RequestRates;

/** Who asks, as its token says. */
export interface Asker {
  organizationId: OrganizationId;
  principal: Principal;
}

/**
 * Commands that a Command costs whose signature was not believed: to name the stage for the audit takes a millisecond of
 * the main thread, and an accepted Command takes a twentieth of what all of them may have.
 */
export const UNBELIEVED_COST = 20;

/** Milliseconds between two lines of the log about the same limit; the limited may come by the thousand. */
const REPORT_INTERVAL = 60_000;
/** Limits that were reported lately; about 100 bytes each. */
const REPORTED_MAXIMUM = 1_000;

export interface RequestLimitsParts {
  organizations: OrganizationStore;
  logger: Logger;
  /** Milliseconds of a clock that nobody sets. */
  monotonic: () => number;
}

export class RequestLimits {
  readonly rates: TenantRates;
  private readonly buckets: TokenBuckets;
  private readonly reported = new BoundedCache<number>(REPORTED_MAXIMUM);
  private readonly logger: Logger;
  private readonly monotonic: () => number;

  constructor({ organizations, logger, monotonic }: RequestLimitsParts) {
    this.rates = new TenantRates(organizations, monotonic);
    this.buckets = new TokenBuckets(monotonic);
    this.logger = logger;
    this.monotonic = monotonic;
  }

  /** Takes one from the actor and from the Organization, or refuses. Waits only for the first look at a policy. */
  async admit(limited: Limited, asker: Asker): Promise<Refusal | undefined> {
    const rates = this.rates.of(asker.organizationId);
    const draws = drawsOf(limited, asker, rates instanceof Promise ? await rates : rates);
    return this.refusalAfter(this.buckets.take(draws), limited, asker);
  }

  /**
   * When the turn comes: what else the actor sent at the same time may have cost more than it has. Only its own debt
   * counts; its token is taken already.
   */
  async stillAdmitted(limited: Limited, asker: Asker): Promise<Refusal | undefined> {
    const [, own] = drawsOf(limited, asker, await this.rates.of(asker.organizationId));
    return this.buckets.isInDebt(own) ? this.refusalAfter(this.buckets.wait([own]), limited, asker) : undefined;
  }

  /** The request was worse than it looked. */
  async charge(limited: Limited, asker: Asker, tokens: number): Promise<void> {
    this.buckets.spend(drawsOf(limited, asker, await this.rates.of(asker.organizationId)), tokens);
  }

  private refusalAfter(wait: number, limited: Limited, asker: Asker): Refusal | undefined {
    if (wait === 0) return undefined;
    this.report(limited, asker);
    return limitedBy(limited, wait);
  }

  private report(limited: Limited, { organizationId, principal }: Asker): void {
    const name = `${limited} ${organizationId}`;
    const now = this.monotonic();
    if (now - (this.reported.get(name) ?? -Infinity) < REPORT_INTERVAL) return;
    this.reported.set(name, now);
    this.logger.info({ tenant: organizationId, actor: principal.id, limit: limited }, 'requests are limited');
  }
}

/** `retryAfterMs`: after it, one more is admitted if nobody else comes first. */
export function limitedBy(limited: Limited, retryAfterMs: number): Refusal {
  return refuse('RATE_LIMITED', `too many ${limited} in too short a time`, {
    retryAfterMs,
    details: { limit: limited },
  });
}

function drawsOf(limited: Limited, { organizationId, principal }: Asker, rates: RequestRates): [Draw, Draw] {
  const { organization, actor }: SharedRate = rates[limited];
  const shared = `${limited} ${organizationId}`;
  return [
    { name: shared, rate: organization },
    { name: `${shared} ${principalKey(principal)}`, rate: actor },
  ];
}
