// Brings a PostgreSQL database to the shipped schema while others serve it: one migration, one transaction, never long in
// a queue for a lock. Runs as the owner; for a login that owns nothing it only finds out that nothing is to be done.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import type { AppliedMigration, AppliedMigrations } from '../migrations.ts';
import { pendingMigrations, shippedMigrations } from '../migrations.ts';
import { StoreFault } from '../port.ts';
import { faultOf } from './faults.ts';
import { APPLIED, IS_LIMITED, NEEDED } from './problems.ts';

/**
 * A statement that waits for a table makes everybody wait who wants it later: so short that nobody's time runs out, and
 * shorter than the server takes to look for deadlocks, so that of two who wait for each other the migration lets go.
 */
const GIVE_UP_SOON = `SELECT set_config('lock_timeout', least(400, setting::int / 2)::text, true),
    set_config('statement_timeout', '0', true)
  FROM pg_settings WHERE name = 'deadlock_timeout'`;
/** Between two tries, for those who had to wait. */
const PAUSE_MS = 600;
/** A dump of the database holds every table for as long as it takes, and so does a migration by another process. */
const PATIENCE_MS = 30 * 60_000;

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';
const NOT_PERMITTED = '42501';

/** `shipped`: other migrations than this release's, for a test of what the next one's would do. */
export async function migratePostgres(url: string, shipped = shippedMigrations('postgres')): Promise<void> {
  // The lock belongs to the connection, so the connection must be the same from the first statement to the last.
  const sql = postgres(url, { max: 1, max_lifetime: null, fetch_types: false, onnotice: () => undefined });
  try {
    const pending = pendingMigrations(shipped, await appliedMigrations(sql));
    if (pending.length > 0) await migrateInTurn(sql, shipped).catch((error: unknown) => explain(error, pending.length));
  } catch (error) {
    throw faultOf(error);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Of two processes that start together, one waits here and then finds nothing left to do. */
async function migrateInTurn(sql: postgres.Sql, shipped: MigrationMeta[]): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  // Asked again and again: who waits inside a statement holds a snapshot, and some migrations wait for all of those.
  while (!(await takeTurn(sql))) {
    if (performance.now() > deadline) throw new StoreFault('busy', 'another process has been migrating for too long');
    await sleep(PAUSE_MS);
  }
  const applied = await appliedMigrations(sql);
  const pending = pendingMigrations(shipped, applied);
  if (pending.length > 0) await prepareJournal(sql);
  // Nobody serves an empty database yet, and half a schema would be of no use to anybody.
  const isNew = applied.migrations.length === 0;
  for (const group of isNew ? [pending] : pending.map((one) => [one])) await apply(sql, group, deadline);
}

async function takeTurn(sql: postgres.Sql): Promise<boolean> {
  const [turn] = await sql<{ taken: boolean }[]>`
    SELECT pg_try_advisory_lock(hashtextextended('mwp migrate', 0)) AS taken`;
  return turn?.taken === true;
}

async function apply(sql: postgres.Sql, migrations: MigrationMeta[], deadline: number): Promise<void> {
  for (;;) {
    try {
      return await applyOnce(sql, migrations);
    } catch (error) {
      const code = error instanceof postgres.PostgresError ? error.code : undefined;
      if ((code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) || performance.now() > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function applyOnce(sql: postgres.Sql, migrations: MigrationMeta[]): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction.unsafe(GIVE_UP_SOON);
    for (const { sql: statements, hash, folderMillis } of migrations) {
      for (const statement of statements) await transaction.unsafe(statement);
      await transaction`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${hash}, ${folderMillis})`;
    }
  });
}

/** As drizzle's own migrator lays it out. Only where it is missing: asking for it again needs rights even so. */
async function prepareJournal(sql: postgres.Sql): Promise<void> {
  if (await hasJournal(sql)) return;
  await sql.unsafe(`CREATE SCHEMA IF NOT EXISTS drizzle;
    CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`);
}

async function hasJournal(sql: postgres.Sql): Promise<boolean> {
  const [table] = await sql<{ there: boolean }[]>`
    SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS there`;
  return table?.there === true;
}

async function appliedMigrations(sql: postgres.Sql): Promise<AppliedMigrations> {
  if (!(await hasJournal(sql))) return { migrations: [], needed: 0 };
  const rows = await sql.unsafe<{ hash: string; created_at: string }[]>(APPLIED);
  const migrations: AppliedMigration[] = rows.map(({ hash, created_at }) => ({ hash, created_at: Number(created_at) }));
  const [limits] = await sql.unsafe<{ limited: boolean }[]>(IS_LIMITED);
  const [limit] = limits?.limited !== true ? [] : await sql.unsafe<{ needed: number }[]>(NEEDED);
  return { migrations, needed: limit?.needed ?? 0 };
}

function explain(error: unknown, pending: number): never {
  if (!(error instanceof postgres.PostgresError) || error.code !== NOT_PERMITTED) throw error;
  const sentence = `${pending} migrations are still to run, and this user may not: mwp migrate as the owner`;
  throw new StoreFault('conflict', `${sentence} (${error.message})`, { cause: faultOf(error).cause });
}
