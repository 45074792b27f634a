// Whoever is over a limit is told a little later. A client that asks again at once, on connections that it keeps, costs the
// main thread as much with each "no" as its limit was meant to save; held back, it asks a few times a second. The answers
// of one asker go out one after the other: let go together, they would come back together, and in front of everybody else.
import { setTimeout as delay } from 'node:timers/promises';
import type { Refusal } from '../../protocol/refusals.ts';

/** Milliseconds. Who waits as long as it is told does not notice, unless many of the same asker are held. */
export const HELD_MILLISECONDS = 250;
/** Milliseconds between two answers held for the same asker; a refusal takes a fraction of one to make. */
export const HELD_APART_MILLISECONDS = 2;
/** Answers held at the same time, a few kilobytes each; beyond it they go out at once. */
const HELD_MAXIMUM = 2_000;

/** Of one asker: how many are held, and when the last of them is due. */
interface Line {
  held: number;
  lastDue: number;
}

export class HeldAnswers {
  private readonly milliseconds: number;
  private readonly maximum: number;
  private readonly lines = new Map<string, Line>();
  private held = 0;

  constructor(milliseconds = HELD_MILLISECONDS, maximum = HELD_MAXIMUM) {
    this.milliseconds = milliseconds;
    this.maximum = maximum;
  }

  /**
   * The refusal as it is due when the wait is over: what was waited here need not be waited there. `asker`: whose answers
   * stand in one line, so that no other's have to wait for them.
   */
  async hold(refusal: Refusal, asker: string): Promise<Refusal> {
    const own = Math.min(refusal.retryAfterMs ?? 0, this.milliseconds);
    if (own <= 0 || this.held >= this.maximum) return refusal;
    const now = performance.now();
    const line = this.lines.get(asker) ?? { held: 0, lastDue: -Infinity };
    line.lastDue = Math.max(now + own, line.lastDue + HELD_APART_MILLISECONDS);
    const wait = Math.ceil(line.lastDue - now);
    this.lines.set(asker, line);
    this.count(line, 1);
    try {
      await delay(wait);
    } finally {
      this.count(line, -1);
      if (line.held === 0) this.lines.delete(asker);
    }
    return { ...refusal, retryAfterMs: Math.max(1, (refusal.retryAfterMs ?? 0) - wait) };
  }

  private count(line: Line, difference: 1 | -1): void {
    line.held += difference;
    this.held += difference;
  }
}
