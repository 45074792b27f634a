// One connection of the local store: prepared statements by text, transactions, faults. libsql works synchronously, so a
// statement is done when the call returns; only taking the write lock may have to wait, and waits without blocking.
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { StoreFault } from '../port.ts';
import { faultOf, isBusy } from './faults.ts';
import type { CrossTenantStatement, TenantStatement } from './statements.ts';

/** Another process (`mwp`, a backup) may hold the write lock for a moment; after this long it is a fault. */
export const BUSY_WAIT_MAXIMUM_MS = 5_000;
const BUSY_PAUSE_MS = 5;
/** Readers of a scrub: all who write wait behind it. */
const EMPTYING_MAXIMUM_MS = 500;

export type Value = string | number | Uint8Array | null;

function open(file: string): Database.Database {
  try {
    return new Database(file);
  } catch (error) {
    throw faultOf(error);
  }
}

/** Of the one connection that writes. SQLite's own 2 MiB hold too little of the indexes of a large Organization. */
const WRITING_CACHE_KIBIBYTES = 32_768;

export class SqliteConnection {
  private readonly database: Database.Database;
  private readonly reading: boolean;
  private readonly prepared = new Map<string, Database.Statement>();

  private readonly durable: boolean;

  constructor(file: string, options: { durable: boolean; reading?: boolean }) {
    this.reading = options.reading ?? false;
    this.durable = options.durable;
    this.database = open(file);
    // FULL: what was answered survives a power cut. A database that is deleted on closing needs none of it.
    this.execute(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.durable ? 'FULL' : 'OFF'};
      PRAGMA foreign_keys = ON;
      ${this.reading ? 'PRAGMA query_only = ON;' : `PRAGMA cache_size = -${WRITING_CACHE_KIBIBYTES};`}`);
  }

  all<Row>(statement: TenantStatement, organizationId: string, ...values: Value[]): Row[] {
    return this.rows(statement.text, [organizationId, ...values]) as Row[];
  }

  first<Row>(statement: TenantStatement, organizationId: string, ...values: Value[]): Row | undefined {
    return this.rows(statement.text, [organizationId, ...values])[0] as Row | undefined;
  }

  /** Rows changed. */
  run(statement: TenantStatement, organizationId: string, ...values: Value[]): number {
    try {
      return this.prepare(statement.text).run([organizationId, ...values]).changes;
    } catch (error) {
      throw faultOf(error);
    }
  }

  allAcrossTenants<Row>(statement: CrossTenantStatement, ...values: Value[]): Row[] {
    return this.rows(statement.text, values) as Row[];
  }

  /** Migrations, pragmas and the like. */
  execute(text: string): void {
    try {
      this.database.exec(text);
    } catch (error) {
      throw faultOf(error);
    }
  }

  rows(text: string, values: Value[]): unknown[] {
    try {
      return this.prepare(text).all(values);
    } catch (error) {
      throw faultOf(error);
    }
  }

  /** IMMEDIATE takes the write lock at once: a deferred one could find, at its first write, that it read too early. */
  async begin(mode: 'IMMEDIATE' | 'DEFERRED'): Promise<void> {
    const deadline = Date.now() + BUSY_WAIT_MAXIMUM_MS;
    for (;;) {
      try {
        this.database.exec(`BEGIN ${mode}`);
        return;
      } catch (error) {
        if (!isBusy(error)) throw faultOf(error);
        if (Date.now() > deadline)
          throw new StoreFault('busy', 'another process holds the write lock', { cause: error });
        await sleep(BUSY_PAUSE_MS);
      }
    }
  }

  /** For the transactions from now on. Off: a power cut may lose the last of them, and the end of the process none. */
  waitForDisk(waits: boolean): void {
    if (this.durable) this.execute(`PRAGMA synchronous = ${waits ? 'FULL' : 'NORMAL'}`);
  }

  commit(): void {
    this.execute('COMMIT');
  }

  /** Also after a failure that ended the transaction by itself. */
  rollback(): void {
    if (this.database.inTransaction) this.execute('ROLLBACK');
  }

  /**
   * Writes the whole file anew, without free pages and what lies between rows, and empties the log. Nobody writes meanwhile; a
   * long reader keeps the log from being emptied, and then nothing is rewritten in vain. Throws StoreFault 'busy'.
   */
  async scrub(): Promise<void> {
    await this.emptyLog();
    // The copy that is made on the way is a temporary file; the library would hold it, as long as the database is, in memory.
    this.execute('PRAGMA temp_store = FILE');
    try {
      this.execute('VACUUM');
    } finally {
      this.execute('PRAGMA temp_store = DEFAULT');
    }
    await this.emptyLog();
  }

  /** Who begins to read after a try needs no log any more, so only those who read already are waited for. */
  private async emptyLog(): Promise<void> {
    const deadline = Date.now() + EMPTYING_MAXIMUM_MS;
    for (;;) {
      const [answer] = this.rows('PRAGMA wal_checkpoint(TRUNCATE)', []) as { busy: number }[];
      if (answer?.busy === 0) return;
      if (Date.now() > deadline) throw new StoreFault('busy', 'a reader keeps the log of the database');
      await sleep(BUSY_PAUSE_MS);
    }
  }

  close(): void {
    // libsql lets go of the file when its statements are collected, which is not now; so the log is emptied by hand, and
    // what lies on disk is one whole file. A reader in another process may keep some of it; then so be it.
    if (!this.reading) this.rows('PRAGMA wal_checkpoint(TRUNCATE)', []);
    this.prepared.clear();
    this.database.close();
  }

  private prepare(text: string): Database.Statement {
    let statement = this.prepared.get(text);
    if (statement === undefined) {
      statement = this.database.prepare(text);
      this.prepared.set(text, statement);
    }
    return statement;
  }
}
