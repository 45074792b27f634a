// Brings a PostgreSQL database to the shipped schema, with drizzle's migrator. Runs as the owner, not as the service.
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import type { AppliedMigration } from '../migrations.ts';
import { migrationsFolder, pendingMigrations, shippedMigrations } from '../migrations.ts';
import { faultOf } from './faults.ts';

export async function migratePostgres(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  try {
    // Of two processes that start together, one waits here and then finds nothing left to do.
    await sql`SELECT pg_advisory_lock(hashtextextended('mwp migrate', 0))`;
    pendingMigrations(shippedMigrations('postgres'), await appliedMigrations(sql));
    await migrate(drizzle(sql), { migrationsFolder: migrationsFolder('postgres') });
  } catch (error) {
    throw spokenByDatabase(error);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Drizzle wraps what the database says into the statement that it says it of. */
function spokenByDatabase(error: unknown): unknown {
  const { cause, code } = error as { cause?: unknown; code?: unknown };
  if (cause instanceof postgres.PostgresError) return faultOf(cause);
  return code === undefined ? error : faultOf(error);
}

async function appliedMigrations(sql: postgres.Sql): Promise<AppliedMigration[]> {
  const [table] = await sql<{ there: boolean }[]>`
    SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS there`;
  if (table?.there !== true) return [];
  const rows = await sql<{ hash: string; created_at: string }[]>`
    SELECT hash, created_at FROM drizzle.__drizzle_migrations ORDER BY id`;
  return rows.map(({ hash, created_at }) => ({ hash, created_at: Number(created_at) }));
}
