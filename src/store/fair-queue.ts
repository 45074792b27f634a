// Who may work next: so many at once, turn by turn over the tenants, and never more than a few with the same key. One
// tenant's rush, or one hot Group, leaves room for the others (design section 6). In memory, of one process.
import { StoreFault } from './port.ts';

/** More waiting than this means the database has not kept up for long; who comes now had better be told. */
export const WAITING_MAXIMUM = 10_000;

/** Audit records waiting to be written; a flood of bad Commands loses records, never answers. */
export const AUDIT_WAITING_MAXIMUM = 1_000;

/** Nobody waits longer for a turn; whoever asked has given up by then, or waits for itself. */
export const TURN_WAIT_MAXIMUM_MS = 30_000;

/** A lane is still there so long after its last job: who asks ten times a second is not away in between. */
export const PRESENCE_MS = 2_000;

/** Closing waits this long for who works, and then goes on without them. */
export const CLOSE_WAIT_MAXIMUM_MS = 10_000;

export interface FairQueueOptions {
  /** Jobs at work at the same time. */
  capacity: number;
  /** Of these, jobs with the same key. */
  perKey?: number;
  /**
   * Of these, jobs of one lane while another one is there. Whoever comes next waits for one of them to end, and then runs
   * beside all of them: so few that this hardly shows, and enough to keep what they work with busy.
   */
  perLane?: number;
  waitingMaximum?: number;
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

/** A lane that has jobs at work, or had some a moment ago. */
interface Present {
  running: number;
  lastBegun: number;
}

export class FairQueue {
  private readonly present = new Map<string, Present>();
  private readonly lanes = new Map<string, Waiting[]>();
  private readonly running = new Map<string, number>();
  private readonly capacity: number;
  private readonly perKey: number;
  private readonly perLane: number;
  private readonly waitingMaximum: number;
  private active = 0;
  private waiting = 0;
  private closed = false;
  private onceIdle: (() => void)[] = [];

  constructor({ capacity, perKey = capacity, perLane = capacity, waitingMaximum = WAITING_MAXIMUM }: FairQueueOptions) {
    this.capacity = capacity;
    this.perKey = perKey;
    this.perLane = perLane;
    this.waitingMaximum = waitingMaximum;
  }

  async run<Result>({ lane, key }: Turn, job: () => Promise<Result>): Promise<Result> {
    const scoped = key === undefined ? undefined : `${lane} ${key}`;
    await this.turn(lane, scoped);
    try {
      return await job();
    } finally {
      this.finish(lane, scoped);
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
    if (this.waiting >= this.waitingMaximum && !this.makeRoomFor(lane)) {
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

  /** Who fills the queue is turned away, not who comes: the last one of the longest lane, if that is another's. */
  private makeRoomFor(lane: string): boolean {
    const [longest, jobs] = [...this.lanes].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    if (longest === lane || jobs.length <= (this.lanes.get(lane)?.length ?? 0) + 1) return false;
    this.waiting -= 1;
    jobs.pop()?.fail(new StoreFault('unavailable', 'too many wait'));
    return true;
  }

  private giveUp(lane: string, waiting: Waiting): void {
    const jobs = this.lanes.get(lane) ?? [];
    jobs.splice(jobs.indexOf(waiting), 1);
    if (jobs.length === 0) this.lanes.delete(lane);
    this.waiting -= 1;
    waiting.fail(new StoreFault('unavailable', 'no turn came in time'));
  }

  private finish(lane: string, key: string | undefined): void {
    this.active -= 1;
    const present = this.present.get(lane);
    if (present) present.running -= 1;
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
    const now = performance.now();
    // A lane that had its turn, or cannot use it now, goes to the end of the Map.
    while (this.active < this.capacity && passed < this.lanes.size) {
      const [lane, jobs] = this.lanes.entries().next().value as [string, Waiting[]];
      this.lanes.delete(lane);
      const next = this.mayBegin(lane, now) ? jobs.findIndex(({ key }) => this.isFree(key)) : -1;
      if (next >= 0) this.start(lane, jobs.splice(next, 1)[0] as Waiting, now);
      passed = next >= 0 ? 0 : passed + 1;
      if (jobs.length > 0) this.lanes.set(lane, jobs);
      else passed = 0;
    }
  }

  private isFree(key: string | undefined): boolean {
    return key === undefined || (this.running.get(key) ?? 0) < this.perKey;
  }

  private mayBegin(lane: string, now: number): boolean {
    const running = this.present.get(lane)?.running ?? 0;
    if (running < this.perLane) return true;
    // In the order of their last beginning, so who is away stands first.
    for (const [other, { running: atWork, lastBegun }] of this.present) {
      const isThere = atWork > 0 || now - lastBegun <= PRESENCE_MS;
      if (isThere && other !== lane) return false;
      if (!isThere) this.present.delete(other);
    }
    return this.lanes.size === 0; // this lane is not in the Map while it is looked at
  }

  /** With each beginning one, so that no more are remembered than there were lately. */
  private forgetOneAway(now: number): void {
    const first = this.present.entries().next();
    if (first.done) return;
    const [lane, { running, lastBegun }] = first.value;
    if (running === 0 && now - lastBegun > PRESENCE_MS) this.present.delete(lane);
  }

  private start(lane: string, { key, start }: Waiting, now: number): void {
    this.active += 1;
    this.waiting -= 1;
    const running = (this.present.get(lane)?.running ?? 0) + 1;
    this.forgetOneAway(now);
    this.present.delete(lane);
    this.present.set(lane, { running, lastBegun: now });
    if (key !== undefined) this.running.set(key, (this.running.get(key) ?? 0) + 1);
    start();
  }
}
