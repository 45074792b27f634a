// Lets the players through while the service is to be under load, and holds them while it is down or looked into.

import { AsyncLocalStorage } from 'node:async_hooks';

/** Thrown at the players when the load is over. */
export class LoadIsOver extends Error {}

export class Gate {
  private readonly insiders = new AsyncLocalStorage<true>();
  private isOpen = false;
  private isOver = false;
  private inside = 0;
  private waiting: { resolve: () => void; reject: (over: LoadIsOver) => void }[] = [];
  private onceIdle: (() => void)[] = [];

  open(): void {
    this.isOpen = true;
    for (const { resolve } of this.waiting.splice(0)) resolve();
  }

  /** Resolves when whoever had passed is back. */
  close(): Promise<void> {
    this.isOpen = false;
    return this.inside === 0 ? Promise.resolve() : new Promise((resolve) => this.onceIdle.push(resolve));
  }

  /** For good. */
  end(): void {
    this.isOver = true;
    this.isOpen = false;
    for (const { reject } of this.waiting.splice(0)) reject(new LoadIsOver());
  }

  /** What is asked from within passes though the gate is closed: a scene of its own, without the load. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.insiders.run(true, work);
  }

  /** One exchange with the service; never begun while the gate is closed. */
  async through<Result>(exchange: () => Promise<Result>): Promise<Result> {
    while (!this.isOpen && !this.insiders.getStore()) {
      if (this.isOver) throw new LoadIsOver();
      await new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject }));
    }
    this.inside += 1;
    try {
      return await exchange();
    } finally {
      this.inside -= 1;
      if (this.inside === 0) this.onceIdle.splice(0).forEach((resolve) => resolve());
    }
  }
}
