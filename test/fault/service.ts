// Services as processes that are killed: one that serves, and one that has loaded its code and waits to be the next, so
// that a restart takes as long as a start of the service and not as long as a start of Node.js.
import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChildNews, Order, Trap } from './orders.ts';

/** A start that takes longer hangs. */
const START_MAXIMUM_MS = 30_000;
/** Lines of the log that are kept to be shown; nobody reads more. */
const ALARMS_MAXIMUM = 50;
/** A trap that does not hold its service under load for so long is in the wrong place. */
const HELD_MAXIMUM_MS = 20_000;
const HELD_LOOK_MS = 5;
/** Of pino. */
const LEVEL_ERROR = 50;

export class Service {
  url = '';
  /** What it logged as an error. */
  readonly alarms: string[] = [];
  readonly ended: Promise<NodeJS.Signals | number | null>;
  private readonly child: ChildProcess;
  private news: ChildNews[] = [];
  private heard: (() => void) | undefined;
  private hasEnded = false;

  private constructor() {
    this.child = fork(fileURLToPath(new URL('service-child.mjs', import.meta.url)), {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    this.child.on('message', (news: ChildNews) => {
      this.news.push(news);
      this.heard?.();
    });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.hasEnded = true;
        this.heard?.();
        resolve(signal ?? code);
      });
    });
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => this.read(line));
  }

  /** Loads, and does nothing yet. */
  static load(): Service {
    return new Service();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return !this.hasEnded;
  }

  /** Tells it to start, and does not wait for it. */
  async begin(environment: Record<string, string>): Promise<void> {
    await this.next('loaded');
    this.send({ order: 'start', environment });
  }

  async start(environment: Record<string, string>): Promise<void> {
    await this.begin(environment);
    const { url } = await this.next('serving');
    this.url = url;
  }

  /** It ends or holds itself at that passing, counted from now. */
  setTrap(trap: Trap): void {
    this.send({ order: 'trap', trap });
  }

  /** Resolves when the process is stopped, as by SIGSTOP. Linux only. */
  async untilHeld(): Promise<void> {
    const deadline = Date.now() + HELD_MAXIMUM_MS;
    while (stateOf(this.pid) !== 'T') {
      if (this.hasEnded || Date.now() > deadline) throw new Error('the service was never held');
      await new Promise((resolve) => setTimeout(resolve, HELD_LOOK_MS));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  private send(order: Order): void {
    this.child.send(order, () => undefined);
  }

  private async next<News extends ChildNews['news']>(wanted: News): Promise<Extract<ChildNews, { news: News }>> {
    const deadline = setTimeout(() => this.signal('SIGKILL'), START_MAXIMUM_MS);
    try {
      for (;;) {
        const news = this.news.shift();
        if (news?.news === wanted) return news as Extract<ChildNews, { news: News }>;
        if (news?.news === 'failed') throw new Error(`the service did not start: ${news.why}`);
        if (this.hasEnded) throw new ServiceEnded(`the service ended before it was ${wanted}`);
        await new Promise<void>((resolve) => (this.heard = resolve));
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  private read(line: string): void {
    if (!line.includes('"level":5') && !line.includes('"level":6')) return;
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message: string } };
    if (level < LEVEL_ERROR || this.alarms.length >= ALARMS_MAXIMUM) return;
    this.alarms.push(err ? `${msg}: ${err.message}` : msg);
  }
}

/** As Linux shows it; `T` for a stopped process. */
function stateOf(pid: number): string | undefined {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[0];
}

export class ServiceEnded extends Error {}

/** The next service is always loading while the present one works. */
export class Services {
  private waiting: Service = Service.load();

  /** Takes the loaded one; another begins to load. */
  next(): Service {
    const service = this.waiting;
    this.waiting = Service.load();
    return service;
  }

  async close(): Promise<void> {
    await this.waiting.kill();
  }
}
