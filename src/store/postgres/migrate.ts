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
    throw error instanceof postgres.PostgresError || 'code' in (error as object) ? faultOf(error) : error;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function appliedMigrations(sql: postgres.Sql): Promise<AppliedMigration[]> {
  const [table] = await sql<{ there: boolean }[]>`
    SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS there`;
  if (table?.there !== true) return [];
  const rows = await sql<{ hash: string; created_at: string }[]>`
    SELECT hash, created_at FROM drizzle.__drizzle_migrations ORDER BY id`;
  return rows.map(({ hash, created_at }) => ({ hash, created_at: Number(created_at) }));
}
