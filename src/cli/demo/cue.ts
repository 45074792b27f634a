// How the two plays wait for each other: one gives a cue, the other waits for it, and an abort ends every wait.

export class Cue {
  private given = false;
  private readonly waiting = new Set<() => void>();

  give(): void {
    this.given = true;
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }

  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.given) return;
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.add(() => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
    });
  }
}

/** Where the missions meet: both need Ada, and she may work on one thing at a time. */
export interface Cues {
  /** Mission B has its requirements, so Ada could start there. */
  readonly secondIsReady: Cue;
  /** Ada works in mission A. */
  readonly firstIsActive: Cue;
  /** Her start in mission B was tried meanwhile. */
  readonly secondWasTried: Cue;
}
