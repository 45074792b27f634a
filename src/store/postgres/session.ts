// One physical connection. It never reconnects: a statement of a transaction whose connection broke must fail, not run on
// a fresh one. Statements can be sent several at a time; hot ones are prepared before the first use.
import type { Socket } from 'node:net';
import postgres from 'postgres';
import { UNOBSERVED, type StoreObserver } from '../observer.ts';
import { passUnwatched, StoreFault, type PassPoint } from '../port.ts';
import { faultOf } from './faults.ts';
import type { Address } from './socket.ts';
import { CONNECT_TIMEOUT_MS, connectSocket } from './socket.ts';

/** Waiting for a lock longer than this, an acceptance starts over, a bounded number of times. */
export const LOCK_TIMEOUT_MS = 10_000;
/** Above the wait for a lock. A statement that computes longer than the rest is wrong; none of ours scans a table. */
export const STATEMENT_TIMEOUT_MS = LOCK_TIMEOUT_MS + 2_000;
/**
 * A process that is held in the middle of a decision lets go of its locks, and a shared transaction may have many. Below the
 * wait for a lock, so that whoever waits for them still gets them; a healthy decision takes milliseconds.
 */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 7_000;

/**
 * The server ends every statement before this; who is silent for longer is not there any more. Well below the 30 s that
 * clients wait, so that they are told to try again and do not hang up.
 */
export const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 3_000;

/** For the connection, the login and the preparation of the hot statements. */
export const OPEN_TIMEOUT_MS = CONNECT_TIMEOUT_MS + 5_000;

/** After this many, postgres.js has what it was given: it lets one pass; the rest is to be safe. */
const HAND_OVER_MICROTASKS = 3;

export type Value = string | number | null | readonly unknown[] | object;
export type Row = Record<string, unknown>;

/** A text with `$1` parameters, or, without any, statements of the simple protocol. */
export interface Statement {
  text: string;
  parameters: Value[];
}

export interface SessionOptions {
  url: string;
  role: string | undefined;
  /** Texts to prepare at once, with their numbers of parameters. */
  hot: { text: string; parameters: number }[];
  observer?: StoreObserver;
  pass?: PassPoint;
}

export class Session {
  readonly pass: PassPoint;
  private readonly sql: postgres.Sql;
  private readonly observer: StoreObserver;
  private socket: Socket | undefined;
  private connecting = false;
  private gone = false;

  private constructor(options: SessionOptions) {
    this.observer = options.observer ?? UNOBSERVED;
    this.pass = options.pass ?? passUnwatched;
    this.sql = postgres(options.url, {
      max: 1,
      fetch_types: false,
      // A connection is ended by its pool, never in the middle of a transaction.
      idle_timeout: undefined,
      max_lifetime: null,
      connection: {
        application_name: 'mwp-authority',
        statement_timeout: STATEMENT_TIMEOUT_MS,
        lock_timeout: LOCK_TIMEOUT_MS,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
        // Our statements find few rows by keys, so the plan that knows no value is the right one for all; planning anew
        // for an Organization that the statistics do not know yet took whatever index begins with it, which is every one.
        plan_cache_mode: 'force_generic_plan',
        // That plan is kept for as long as the connection, also when it was made of tables that fitted on a page.
        enable_seqscan: 'off',
        ...(options.role === undefined ? {} : { role: options.role }),
      },
      types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
      onnotice: () => undefined,
      onclose: () => this.end(),
      // Not in the type declarations, but in the documentation ("custom socket").
      socket: (address: Address) => this.connectOnce(address),
    } as postgres.Options<{ bigint: postgres.PostgresType<number> }>);
  }

  static async open(options: SessionOptions): Promise<Session> {
    const session = new Session(options);
    const tooLate = setTimeout(() => session.end(), OPEN_TIMEOUT_MS);
    try {
      await session.sql.unsafe('SELECT 1');
      for (const { text, parameters } of options.hot) {
        await session.sql.unsafe(text, new Array<string>(parameters).fill(''), { prepare: true }).describe();
      }
      return session;
    } catch (error) {
      session.end();
      throw faultOf(error);
    } finally {
      clearTimeout(tooLate);
    }
  }

  /** A server that takes the connection and drops it before it is ready would be tried again and again. */
  private async connectOnce(address: Address): Promise<Socket> {
    if (this.connecting) throw new StoreFault('unavailable', 'the connection was lost while it was opened');
    this.connecting = true;
    this.socket = await connectSocket(address);
    return this.socket;
  }

  get isGone(): boolean {
    return this.gone;
  }

  async query<Answer extends Row = Row>(text: string, parameters: Value[] = []): Promise<Answer[]> {
    const [answer] = this.pipeline([{ text, parameters }]);
    return (await answer) as Answer[];
  }

  /** Sends all of them in one go. An answer fails when its statement did; who does not await one need not catch it. */
  pipeline(statements: Statement[], onceSent?: () => void): Promise<Row[]>[] {
    if (this.gone) return statements.map(() => Promise.reject(new StoreFault('unavailable', 'the connection is gone')));
    this.socket?.cork();
    const answers = statements.map(({ text, parameters }) => this.send(text, parameters));
    void this.uncorkAfterWriting(onceSent);
    const silence = setTimeout(() => this.end(), ANSWER_TIMEOUT_MS);
    const began = performance.now();
    void Promise.allSettled(answers).then((settled) => {
      clearTimeout(silence);
      const failed = settled.some(({ status }) => status === 'rejected');
      this.observer.roundTripEnded({ statements, began, failed });
    });
    return answers;
  }

  /** Does not wait for a goodbye. Safe to call twice. */
  end(): void {
    this.gone = true;
    void this.sql.end({ timeout: 0 }).catch(() => undefined);
    this.socket?.destroySoon();
  }

  /** postgres.js hands over in a microtask, writes large messages at once and small ones in a `setImmediate`. */
  private async uncorkAfterWriting(onceSent?: () => void): Promise<void> {
    for (let microtask = 0; microtask < HAND_OVER_MICROTASKS; microtask += 1) await Promise.resolve();
    setImmediate(() => {
      this.socket?.uncork();
      onceSent?.();
    });
  }

  private send(text: string, parameters: Value[]): Promise<Row[]> {
    const options = parameters.length === 0 ? { simple: true } : { prepare: true };
    const query = this.sql.unsafe(text, parameters as postgres.ParameterOrJSON<never>[], options).execute();
    const answer = Promise.resolve(query).then(
      (rows) => {
        // Should postgres.js have reconnected to send what was still queued, its answer knows no tenant.
        if (this.gone) throw new StoreFault('unavailable', 'the connection is gone');
        return rows;
      },
      (error: unknown) => Promise.reject(faultOf(error)),
    );
    answer.catch(() => undefined);
    return answer;
  }
}
