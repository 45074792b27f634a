// Start and stop as one contract: what was started last is stopped first, stopping is safe twice and before the start,
// and no step can hold up the end for longer than its bound.

/** Milliseconds that one step may take to drain; an orchestrator kills after 10 s or more. */
export const DRAIN_MAXIMUM = 8_000;

export interface StopStep {
  name: string;
  stop: () => Promise<void> | void;
  /** Milliseconds, instead of the bound of all others. */
  maximum?: number;
}

export interface LifecycleOptions {
  drainMaximum?: number;
  /** Told of a step that failed or ran out of time; the steps after it still run. */
  report?: (message: string, error?: unknown) => void;
}

export class Lifecycle {
  private readonly steps: StopStep[] = [];
  private readonly drainMaximum: number;
  private readonly report: (message: string, error?: unknown) => void;
  private stopping: Promise<void> | undefined;

  constructor({ drainMaximum = DRAIN_MAXIMUM, report = () => {} }: LifecycleOptions = {}) {
    this.drainMaximum = drainMaximum;
    this.report = report;
  }

  get isStopping(): boolean {
    return this.stopping !== undefined;
  }

  /** Call right after the thing has started. Throws when the whole is stopping already: then stop the thing at once. */
  started(step: StopStep): void {
    if (this.stopping) throw new Error(`${step.name} started while everything stops`);
    this.steps.push(step);
  }

  /** Every call answers the same promise; it never rejects. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    for (let step = this.steps.pop(); step; step = this.steps.pop()) await this.stopOne(step);
  }

  private async stopOne({ name, stop, maximum = this.drainMaximum }: StopStep): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), maximum);
    });
    try {
      const outcome = await Promise.race([Promise.resolve(stop()).then(() => 'stopped' as const), bound]);
      if (outcome === 'late') this.report(`${name} did not stop within ${maximum} ms`);
    } catch (error) {
      this.report(`${name} failed to stop`, error);
    } finally {
      clearTimeout(timer);
    }
  }
}
