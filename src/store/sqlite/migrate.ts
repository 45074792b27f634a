// Brings a SQLite file to the shipped schema. Drizzle's own migrator needs another driver, so this reads its journal and
// writes its table; each migration is a transaction of its own.
import type { AppliedMigration, AppliedMigrations } from '../migrations.ts';
import { pendingMigrations, shippedMigrations } from '../migrations.ts';
import { SqliteConnection } from './connection.ts';

export async function migrateSqlite(file: string): Promise<void> {
  const connection = new SqliteConnection(file, { durable: true });
  try {
    await migrateConnection(connection);
  } finally {
    connection.close();
  }
}

/** The write lock is taken before looking, so that of two processes that start together one waits. */
export async function migrateConnection(connection: SqliteConnection): Promise<void> {
  await connection.begin('IMMEDIATE');
  try {
    connection.execute(
      'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)',
    );
    for (const migration of pendingMigrations(shippedMigrations('sqlite'), appliedMigrations(connection))) {
      for (const statement of migration.sql) connection.execute(statement);
      connection.rows('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?1, ?2)', [
        migration.hash,
        migration.folderMillis,
      ]);
    }
    connection.commit();
  } finally {
    connection.rollback();
  }
}

/** `user_version` is what a migration sets that older releases cannot serve after (decision 16). */
export function appliedMigrations(connection: SqliteConnection): AppliedMigrations {
  const [version] = connection.rows('PRAGMA user_version', []) as { user_version: number }[];
  const table = connection.rows("SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'", []);
  const select = 'SELECT hash, created_at FROM __drizzle_migrations ORDER BY id';
  return {
    migrations: table.length === 0 ? [] : (connection.rows(select, []) as AppliedMigration[]),
    needed: version?.user_version ?? 0,
  };
}
