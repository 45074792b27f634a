// So many connections and no more, opened when needed, handed out in order, thrown away when in doubt.
import { UNOBSERVED, type StoreObserver } from '../observer.ts';
import { StoreFault } from '../port.ts';
import type { SessionOptions } from './session.ts';
import { Session } from './session.ts';

/** Who waits longer for a connection is told that the database does not keep up. */
export const CONNECTION_WAIT_MAXIMUM_MS = 10_000;

interface Waiting {
  take: (session: Session) => void;
  fail: (fault: StoreFault) => void;
  giveUp: NodeJS.Timeout;
}

export class Pool {
  private readonly options: SessionOptions;
  private readonly observer: StoreObserver;
  private readonly size: number;
  private readonly idle: Session[] = [];
  private readonly atWork = new Set<Session>();
  private readonly waiting: Waiting[] = [];
  private open = 0;
  private closed = false;

  constructor(options: SessionOptions, size: number) {
    this.options = options;
    this.size = size;
    this.observer = options.observer ?? UNOBSERVED;
    this.observer.poolOpened(() => this.figures());
  }

  private figures() {
    const { size, open, idle, waiting } = this;
    return { size, open, idle: idle.length, waiting: waiting.length };
  }

  /** The session must be clean when `work` ends, also when it throws: no transaction open, or ended. */
  async run<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const session = await this.acquire();
    this.atWork.add(session);
    try {
      return await work(session);
    } finally {
      this.atWork.delete(session);
      this.release(session);
    }
  }

  /** Whoever is still at work finds the connection gone. */
  close(): void {
    this.closed = true;
    for (const { fail, giveUp } of this.waiting.splice(0)) {
      clearTimeout(giveUp);
      fail(new StoreFault('unavailable', 'the store is closing'));
    }
    for (const session of [...this.idle.splice(0), ...this.atWork]) session.end();
  }

  private async acquire(): Promise<Session> {
    if (this.closed) throw new StoreFault('unavailable', 'the store is closed');
    for (let session = this.idle.pop(); session !== undefined; session = this.idle.pop()) {
      if (!session.isGone) return session;
      this.open -= 1;
      this.observer.connectionLost();
    }
    if (this.open >= this.size) return this.wait();
    this.open += 1;
    return this.openOne();
  }

  private async openOne(): Promise<Session> {
    try {
      const session = await Session.open(this.options);
      this.observer.connectionOpened();
      return session;
    } catch (error) {
      this.open -= 1;
      this.observer.connectionLost();
      this.replaceForWaiting();
      throw error;
    }
  }

  private wait(): Promise<Session> {
    return new Promise((take, fail) => {
      const waiting: Waiting = {
        take,
        fail,
        giveUp: setTimeout(() => {
          this.waiting.splice(this.waiting.indexOf(waiting), 1);
          fail(new StoreFault('unavailable', 'all connections to the database are in use'));
        }, CONNECTION_WAIT_MAXIMUM_MS),
      };
      this.waiting.push(waiting);
    });
  }

  private release(session: Session): void {
    if (this.closed || session.isGone) {
      if (!this.closed) this.observer.connectionLost();
      session.end();
      this.open -= 1;
      return this.replaceForWaiting();
    }
    const next = this.waiting.shift();
    if (next === undefined) {
      this.idle.push(session);
      return;
    }
    clearTimeout(next.giveUp);
    next.take(session);
  }

  /** A place became free without a session in it: open one for whoever has waited longest. */
  private replaceForWaiting(): void {
    const next = this.closed ? undefined : this.waiting.shift();
    if (next === undefined) return;
    clearTimeout(next.giveUp);
    this.open += 1;
    this.openOne().then(next.take, next.fail);
  }
}
