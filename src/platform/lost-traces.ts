// Says in the log that spans do not arrive: once, and then once a minute at most, for a collector that is gone stays gone.
import type { Logger } from './logger.ts';

/** Milliseconds between two lines. */
const PAUSE_MILLISECONDS = 60_000;

export class LostTraces {
  private readonly logger: Logger;
  private told = -Infinity;
  private lost = 0;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Of the error only its class and code: its message may repeat what the collector answered. */
  tell(error: unknown): void {
    this.lost += 1;
    if (performance.now() - this.told < PAUSE_MILLISECONDS) return;
    this.told = performance.now();
    const { name, code } = (error ?? {}) as { name?: string; code?: string | number };
    this.logger.warn({ batches: this.lost, error: name, code }, 'spans could not be exported');
  }
}
