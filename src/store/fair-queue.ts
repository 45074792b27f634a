// Who may work next: so many at once, turn by turn over the tenants, and never more than a few with the same key. One
// tenant's rush, or one hot Group, leaves room for the others (design section 6). A turn can be shared: whoever brings a
// load works on the loads of others of its tenant as well (group commit). In memory, of one process.
import { UNOBSERVED, type QueueName, type QueueObserver } from './observer.ts';
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
  /** Turns at work at the same time. */
  capacity: number;
  /** Of these, turns of the same lane. */
  perLane?: number;
  /**
   * Of these, turns of one lane while another lane is there. Whoever comes next waits for one of them to end, and then runs
   * beside all of them: so few that this hardly shows, and enough to keep what they work with busy.
   */
  perLaneBeside?: number;
  /** Of these, turns with the same key. */
  perKey?: number;
  waitingMaximum?: number;
  /** Loads that share one turn. */
  sharingMaximum?: number;
  watched?: { as: QueueName; by: QueueObserver };
}

export interface Turn {
  /** The tenant. */
  lane: string;
  /** What the job will hold alone for most of its time: a Group. */
  key?: string;
}

/** A turn that has begun, with the loads that share it, in the order of their coming. `end` must be called. */
export interface SharedTurn<Load> {
  loads: Load[];
  end: () => void;
}

interface Waiting<Load> {
  key: string | undefined;
  /** Absent: works alone. */
  load?: Load;
  /** Gives the turn to the first, and nothing to those who share it. */
  start: (shared: SharedTurn<Load> | undefined) => void;
  fail: (fault: StoreFault) => void;
}

export class FairQueue<Load = never> {
  /** When each lane last had a turn, in that order. */
  private readonly present = new Map<string, number>();
  private readonly lanes = new Map<string, Waiting<Load>[]>();
  /** Turns at work, by lane and by key. */
  private readonly running = new Map<string, number>();
  private readonly capacity: number;
  private readonly perLane: number;
  private readonly perLaneBeside: number;
  private readonly perKey: number;
  private readonly waitingMaximum: number;
  private readonly sharingMaximum: number;
  private readonly watched: { as: QueueName; by: QueueObserver };
  private active = 0;
  private waiting = 0;
  private closed = false;
  private isStartingSoon = false;
  private onceIdle: (() => void)[] = [];

  constructor(options: FairQueueOptions) {
    const { capacity, perLane = capacity, perKey = capacity, waitingMaximum, sharingMaximum = 1 } = options;
    const { perLaneBeside = perLane } = options;
    this.capacity = capacity;
    this.perLane = perLane;
    this.perLaneBeside = perLaneBeside;
    this.perKey = perKey;
    this.waitingMaximum = waitingMaximum ?? WAITING_MAXIMUM;
    this.sharingMaximum = sharingMaximum;
    this.watched = options.watched ?? { as: 'working', by: UNOBSERVED };
    this.watched.by.queueOpened(this.watched.as, () => ({ active: this.active, waiting: this.waiting }));
  }

  async run<Result>(turn: Turn, job: () => Promise<Result>): Promise<Result> {
    const mine = await this.turn(turn);
    try {
      return await job();
    } finally {
      mine?.end();
    }
  }

  /** Resolves with a turn and everything that shares it, or with nothing: the load is in the hands of another turn. */
  share(turn: Turn, load: Load): Promise<SharedTurn<Load> | undefined> {
    return this.turn(turn, { load });
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

  private turn({ lane, key }: Turn, sharing?: { load: Load }): Promise<SharedTurn<Load> | undefined> {
    if (this.closed) return Promise.reject(new StoreFault('unavailable', 'the store is closed'));
    if (this.waiting >= this.waitingMaximum && !this.makeRoomFor(lane)) {
      this.watched.by.turnRefused(this.watched.as);
      return Promise.reject(new StoreFault('unavailable', 'too many wait'));
    }
    const asked = performance.now();
    return new Promise((resolve, reject) => {
      const waiting: Waiting<Load> = {
        key: key === undefined ? undefined : `${lane} ${key}`,
        ...sharing,
        start: (shared) => {
          clearTimeout(giveUp);
          this.watched.by.turnCame(this.watched.as, asked);
          resolve(shared);
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
      if (sharing) this.startSoon();
      else this.startWhatMay();
    });
  }

  /**
   * After everything that this turn of the event loop brings: whoever is verified by now comes along. Without it a store that
   * works synchronously would never see two waiting.
   */
  private startSoon(): void {
    if (this.isStartingSoon) return;
    this.isStartingSoon = true;
    setImmediate(() => {
      this.isStartingSoon = false;
      this.startWhatMay();
    });
  }

  /** Who fills the queue is turned away, not who comes: the last one of the longest lane, if that is another's. */
  private makeRoomFor(lane: string): boolean {
    let [longest, longestJobs] = [lane, this.lanes.get(lane) ?? []];
    const own = longestJobs.length;
    for (const [other, jobs] of this.lanes) {
      if (jobs.length > longestJobs.length) [longest, longestJobs] = [other, jobs];
    }
    if (longest === lane || longestJobs.length <= own + 1) return false;
    this.waiting -= 1;
    longestJobs.pop()?.fail(new StoreFault('unavailable', 'too many wait'));
    return true;
  }

  private giveUp(lane: string, waiting: Waiting<Load>): void {
    const jobs = this.lanes.get(lane) ?? [];
    jobs.splice(jobs.indexOf(waiting), 1);
    if (jobs.length === 0) this.lanes.delete(lane);
    this.waiting -= 1;
    this.watched.by.turnRefused(this.watched.as);
    waiting.fail(new StoreFault('unavailable', 'no turn came in time'));
  }

  private startWhatMay(): void {
    let passed = 0;
    const now = performance.now();
    // A lane that had its turn, or cannot use it now, goes to the end of the Map.
    while (this.active < this.capacity && passed < this.lanes.size) {
      const [lane, jobs] = this.lanes.entries().next().value as [string, Waiting<Load>[]];
      this.lanes.delete(lane);
      const party = this.mayBegin(lane, now) ? this.takeParty(jobs) : [];
      if (party.length > 0) this.start(lane, party, now);
      passed = party.length > 0 ? 0 : passed + 1;
      if (jobs.length > 0) this.lanes.set(lane, jobs);
      else passed = 0;
    }
  }

  /** The first who may work, and, if it shares its turn, who may come along. What stays keeps its order. */
  private takeParty(jobs: Waiting<Load>[]): Waiting<Load>[] {
    const mayWork = ({ key }: Waiting<Load>) => key === undefined || this.count(key) < this.perKey;
    const at = jobs.findIndex(mayWork);
    if (at < 0) return [];
    const [first] = jobs.splice(at, 1) as [Waiting<Load>];
    const party = [first];
    if (!('load' in first) || this.sharingMaximum === 1) return party;
    for (let next = at; next < jobs.length && party.length < this.sharingMaximum;) {
      const job = jobs[next] as Waiting<Load>;
      if ('load' in job && mayWork(job)) party.push(...jobs.splice(next, 1));
      else next += 1;
    }
    return party;
  }

  private mayBegin(lane: string, now: number): boolean {
    const running = this.count(lane);
    if (running < this.perLaneBeside) return true;
    return running < this.perLane && !this.isAnotherThere(lane, now);
  }

  /** The lane that is looked at is not among those that wait. */
  private isAnotherThere(lane: string, now: number): boolean {
    if (this.lanes.size > 0) return true;
    for (const [other, lastTurn] of this.present) {
      const isThere = this.count(other) > 0 || now - lastTurn <= PRESENCE_MS;
      if (isThere && other !== lane) return true;
      if (!isThere) this.present.delete(other);
    }
    return false;
  }

  /** With each turn one that is away is forgotten, so no more are remembered than there were lately. */
  private remember(lane: string, now: number): void {
    const first = this.present.entries().next();
    if (!first.done) {
      const [other, lastTurn] = first.value;
      if (this.count(other) === 0 && now - lastTurn > PRESENCE_MS) this.present.delete(other);
    }
    this.present.delete(lane);
    this.present.set(lane, now);
  }

  private start(lane: string, party: Waiting<Load>[], now: number): void {
    this.remember(lane, now);
    const held = [lane, ...new Set(party.flatMap(({ key }) => key ?? []))];
    this.active += 1;
    this.waiting -= party.length;
    for (const name of held) this.running.set(name, this.count(name) + 1);
    const loads = party.flatMap((job) => ('load' in job ? [job.load as Load] : []));
    const [first, ...others] = party as [Waiting<Load>, ...Waiting<Load>[]];
    for (const { start } of others) start(undefined);
    first.start({ loads, end: () => this.end(held) });
  }

  private end(held: string[]): void {
    this.active -= 1;
    for (const name of held) {
      const left = this.count(name) - 1;
      if (left === 0) this.running.delete(name);
      else this.running.set(name, left);
    }
    this.startWhatMay();
    if (this.active === 0) this.onceIdle.splice(0).forEach((resolve) => resolve());
  }

  private count(name: string): number {
    return this.running.get(name) ?? 0;
  }
}
