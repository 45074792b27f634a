// Who may work next: so many at once, turn by turn over the tenants, and never more than a few with the same key. One
// tenant's rush, or one hot Group, leaves room for the others (design section 6). In memory, of one process.
import type { QueueName, QueueObserver } from './observer.ts';
import { UNOBSERVED } from './observer.ts';
import { StoreFault } from './port.ts';

/** More waiting than this means the database has not kept up for long; who comes now had better be told. */
export const WAITING_MAXIMUM = 10_000;

/** Audit records waiting to be written; a flood of bad Commands loses records, never answers. */
export const AUDIT_WAITING_MAXIMUM = 1_000;

/** Nobody waits longer for a turn; whoever asked has given up by then, or waits for itself. */
export const TURN_WAIT_MAXIMUM_MS = 30_000;

/** Closing waits this long for who works, and then goes on without them. */
export const CLOSE_WAIT_MAXIMUM_MS = 10_000;

export interface FairQueueOptions {
  /** Jobs at work at the same time. */
  capacity: number;
  /** Of these, jobs with the same key. */
  perKey?: number;
  waitingMaximum?: number;
  watched?: { as: QueueName; by: QueueObserver };
}

export interface Turn {
  /** The tenant. */
  lane: string;
  /** What the job will hold alone for most of its time: a Group. */
  key?: string;
}

interface Waiting {
  key: string | undefined;
  start: () => void;
  fail: (fault: StoreFault) => void;
}

export class FairQueue {
  private readonly lanes = new Map<string, Waiting[]>();
  private readonly running = new Map<string, number>();
  private readonly capacity: number;
  private readonly perKey: number;
  private readonly waitingMaximum: number;
  private readonly watched: { as: QueueName; by: QueueObserver };
  private active = 0;
  private waiting = 0;
  private closed = false;
  private onceIdle: (() => void)[] = [];

  constructor({ capacity, perKey = capacity, waitingMaximum = WAITING_MAXIMUM, watched }: FairQueueOptions) {
    this.capacity = capacity;
    this.perKey = perKey;
    this.waitingMaximum = waitingMaximum;
    this.watched = watched ?? { as: 'working', by: UNOBSERVED };
    this.watched.by.queueOpened(this.watched.as, () => ({ active: this.active, waiting: this.waiting }));
  }

  async run<Result>({ lane, key }: Turn, job: () => Promise<Result>): Promise<Result> {
    const scoped = key === undefined ? undefined : `${lane} ${key}`;
    const asked = performance.now();
    await this.turn(lane, scoped);
    this.watched.by.turnCame(this.watched.as, asked);
    try {
      return await job();
    } finally {
      this.finish(scoped);
    }
  }

  /** Turns away who waits, and resolves when nobody works any more, or will not end. */
  close(): Promise<void> {
    this.closed = true;
    for (const lane of this.lanes.values()) {
      for (const job of lane) job.fail(new StoreFault('unavailable', 'the store is closing'));
    }
    this.lanes.clear();
    this.waiting = 0;
    if (this.active === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const giveUp = setTimeout(resolve, CLOSE_WAIT_MAXIMUM_MS);
      this.onceIdle.push(() => {
        clearTimeout(giveUp);
        resolve();
      });
    });
  }

  private turn(lane: string, key: string | undefined): Promise<void> {
    if (this.closed) return Promise.reject(new StoreFault('unavailable', 'the store is closed'));
    if (this.waiting >= this.waitingMaximum) {
      this.watched.by.turnRefused(this.watched.as);
      return Promise.reject(new StoreFault('unavailable', 'too many wait'));
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        key,
        start: () => {
          clearTimeout(giveUp);
          resolve();
        },
        fail: (fault) => {
          clearTimeout(giveUp);
          reject(fault);
        },
      };
      const giveUp = setTimeout(() => this.giveUp(lane, waiting), TURN_WAIT_MAXIMUM_MS);
      const jobs = this.lanes.get(lane);
      if (jobs) jobs.push(waiting);
      else this.lanes.set(lane, [waiting]);
      this.waiting += 1;
      this.startWhatMay();
    });
  }

  private giveUp(lane: string, waiting: Waiting): void {
    const jobs = this.lanes.get(lane) ?? [];
    jobs.splice(jobs.indexOf(waiting), 1);
    if (jobs.length === 0) this.lanes.delete(lane);
    this.waiting -= 1;
    this.watched.by.turnRefused(this.watched.as);
    waiting.fail(new StoreFault('unavailable', 'no turn came in time'));
  }

  private finish(key: string | undefined): void {
    this.active -= 1;
    if (key !== undefined) {
      const left = (this.running.get(key) ?? 1) - 1;
      if (left === 0) this.running.delete(key);
      else this.running.set(key, left);
    }
    this.startWhatMay();
    if (this.active === 0) this.onceIdle.splice(0).forEach((resolve) => resolve());
  }

  private startWhatMay(): void {
    let passed = 0;
    // A lane that had its turn, or cannot use it now, goes to the end of the Map.
    while (this.active < this.capacity && passed < this.lanes.size) {
      const [lane, jobs] = this.lanes.entries().next().value as [string, Waiting[]];
      this.lanes.delete(lane);
      const next = jobs.findIndex(({ key }) => key === undefined || (this.running.get(key) ?? 0) < this.perKey);
      if (next >= 0) this.start(jobs.splice(next, 1)[0] as Waiting);
      passed = next >= 0 ? 0 : passed + 1;
      if (jobs.length > 0) this.lanes.set(lane, jobs);
      else passed = 0;
    }
  }

  private start({ key, start }: Waiting): void {
    this.active += 1;
    this.waiting -= 1;
    if (key !== undefined) this.running.set(key, (this.running.get(key) ?? 0) + 1);
    start();
  }
}
