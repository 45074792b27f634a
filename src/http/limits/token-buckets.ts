// Token buckets by name, in memory, of one process. Knows neither tenants nor HTTP. A bucket that nobody has asked for
// long enough is full again and so is the same as none, which is why the oldest may be forgotten.
import type { Rate } from '../../domain/policy.ts';

/** About 100 bytes each. Whoever makes the process forget a bucket has to fill this many others first. */
const BUCKETS_MAXIMUM = 20_000;

/** Milliseconds; sums of fractions come out a little above or below. */
const ROUNDING = 1e-6;

interface Bucket {
  readonly tokens: number;
  /** Of the monotonic clock, when `tokens` was right. Not moved by looking, which would round time and again. */
  readonly at: number;
}

/** One bucket of several that a request must pass. */
export interface Draw {
  name: string;
  rate: Rate;
}

export class TokenBuckets {
  /** In the order in which they were last taken from. */
  private readonly buckets = new Map<string, Bucket>();
  private readonly monotonic: () => number;
  private readonly maximum: number;

  /** `monotonic`: milliseconds of a clock that nobody sets. */
  constructor(monotonic: () => number, maximum = BUCKETS_MAXIMUM) {
    this.monotonic = monotonic;
    this.maximum = maximum;
  }

  get size(): number {
    return this.buckets.size;
  }

  /** Takes a token of each, or none: then the milliseconds until there is one in all of them. */
  take(draws: readonly Draw[]): number {
    const wait = this.wait(draws);
    if (wait === 0) this.spend(draws, 1);
    return wait;
  }

  /** As `take`, and takes nothing. */
  wait(draws: readonly Draw[]): number {
    const now = this.monotonic();
    let longest = 0;
    for (const draw of draws) {
      const milliseconds = ((1 - this.tokens(draw, now)) / draw.rate.perSecond) * 1_000;
      longest = Math.max(longest, Math.ceil(milliseconds - ROUNDING));
    }
    return longest;
  }

  isInDebt(draw: Draw): boolean {
    return this.tokens(draw, this.monotonic()) < 0;
  }

  /**
   * Also more than there are: what a request turned out to cost beyond its token. A bucket gets into debt by as much as
   * it holds at most, so that what many did at the same time counts, and ends.
   */
  spend(draws: readonly Draw[], tokens: number): void {
    const now = this.monotonic();
    for (const draw of draws) {
      const left = Math.max(-draw.rate.burst, this.tokens(draw, now) - tokens);
      this.buckets.delete(draw.name);
      if (this.buckets.size >= this.maximum) this.forgetOldest();
      this.buckets.set(draw.name, { tokens: left, at: now });
    }
  }

  /** Never more than it holds, also when the policy has made the bucket smaller in the meantime. */
  private tokens({ name, rate }: Draw, now: number): number {
    const known = this.buckets.get(name);
    if (!known) return rate.burst;
    return Math.min(rate.burst, known.tokens + (Math.max(0, now - known.at) * rate.perSecond) / 1_000);
  }

  private forgetOldest(): void {
    const oldest = this.buckets.keys().next();
    if (!oldest.done) this.buckets.delete(oldest.value);
  }
}
