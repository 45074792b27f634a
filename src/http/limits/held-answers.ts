// Whoever is over a limit is told a little later. A client that asks again at once, on connections that it keeps, costs the
// main thread as much with each "no" as its limit was meant to save; held back, it asks a few times a second.
import { setTimeout as delay } from 'node:timers/promises';
import type { Refusal } from '../../protocol/refusals.ts';

/** Milliseconds. Nobody who waits as long as it is told notices. */
export const HELD_MILLISECONDS = 250;
/** Answers held at the same time, a few kilobytes each; beyond it they go out at once. */
const HELD_MAXIMUM = 2_000;

export class HeldAnswers {
  private readonly milliseconds: number;
  private readonly maximum: number;
  private held = 0;

  constructor(milliseconds = HELD_MILLISECONDS, maximum = HELD_MAXIMUM) {
    this.milliseconds = milliseconds;
    this.maximum = maximum;
  }

  /** The refusal as it is due when the wait is over: what was waited here need not be waited there. */
  async hold(refusal: Refusal): Promise<Refusal> {
    const wait = Math.min(refusal.retryAfterMs ?? 0, this.milliseconds);
    if (wait <= 0 || this.held >= this.maximum) return refusal;
    this.held += 1;
    try {
      await delay(wait);
    } finally {
      this.held -= 1;
    }
    return { ...refusal, retryAfterMs: Math.max(1, (refusal.retryAfterMs ?? 0) - wait) };
  }
}
