// Looks at a database behind the back of the store: with the tables' owner on PostgreSQL, on a connection of its own on
// SQLite. For tests that show what constraints and triggers do, and that nothing was left.
import Database from 'libsql';
import postgres from 'postgres';
import type { OpenedStore } from '../support/databases.ts';

export interface Behind {
  /** Table names are written bare: `mwp.` is prepended on PostgreSQL where `{…}` stands around one. */
  query(text: string): Promise<Record<string, unknown>[]>;
  tables(): Promise<string[]>;
  /** Rows in each table, over all tenants. */
  rowCounts(): Promise<Record<string, number>>;
  /** Resolves when so many sessions wait for a lock in this database; never on SQLite, where nobody waits inside. */
  untilWaiting(sessions: number): Promise<void>;
  /** Resolves when no more sessions than these, our own included, are in this database. PostgreSQL only. */
  untilSessions(sessions: number): Promise<void>;
  close(): Promise<void>;
}

/** A lock that is never waited for is a broken test. */
const WAITING_DEADLINE_MS = 20_000;

export function lookBehind(opened: OpenedStore): Behind {
  return behindDatabase(opened.store.engine, opened.address);
}

/** `address`: the file, or the URL of a superuser. */
export function behindDatabase(engine: OpenedStore['store']['engine'], address: string): Behind {
  return engine === 'postgres' ? behindPostgres(address) : behindSqlite(address);
}

function behindPostgres(url: string): Behind {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  const query = async (text: string) => [...(await sql.unsafe(text.replaceAll(/\{(\w+)\}/g, 'mwp.$1')))];
  const tables = async () =>
    (
      await query(`SELECT relname FROM pg_class WHERE relnamespace = 'mwp'::regnamespace AND relkind IN ('r', 'p')
                  ORDER BY relname`)
    ).map((row) => String(row['relname']));
  const count = async (from: string) => {
    const [row] = await query(`SELECT count(DISTINCT a.pid) AS count FROM ${from} AND a.datname = current_database()`);
    return Number(row?.['count']);
  };
  const until = async (what: string, holds: () => Promise<boolean>) => {
    const deadline = Date.now() + WAITING_DEADLINE_MS;
    while (!(await holds())) if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
  };
  const untilWaiting = (sessions: number) =>
    until(`${sessions} sessions to wait for a lock`, async () => {
      return (await count('pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted')) >= sessions;
    });
  const untilSessions = (sessions: number) =>
    until(`all but ${sessions} sessions to end`, async () => {
      return (await count(`pg_stat_activity a WHERE a.backend_type = 'client backend'`)) <= sessions;
    });
  const rowCounts = () => countRows(query, tables);
  return { query, tables, rowCounts, untilWaiting, untilSessions, close: () => sql.end({ timeout: 5 }) };
}

function behindSqlite(file: string): Behind {
  const database = new Database(file);
  const query = async (text: string) =>
    database.prepare(text.replaceAll(/\{(\w+)\}/g, '$1')).all([]) as Record<string, unknown>[];
  const tables = async () =>
    (
      await query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*drizzle*'
                  AND name NOT GLOB 'sqlite*' ORDER BY name`)
    ).map((row) => String(row['name']));
  const rowCounts = () => countRows(query, tables);
  const never = () => Promise.reject(new Error('SQLite has no sessions'));
  return {
    query,
    tables,
    rowCounts,
    untilWaiting: never,
    untilSessions: never,
    close: async () => void database.close(),
  };
}

async function countRows(query: Behind['query'], tables: Behind['tables']): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tables()) {
    const [row] = await query(`SELECT count(*) AS count FROM {${table}}`);
    counts[table] = Number(row?.['count']);
  }
  return counts;
}
