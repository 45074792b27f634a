// The migrations that ship with the package: where they are, and how what a database has had compares with them.
// They are append-only: one that was applied and then edited is a fault, not something to run again.
import { fileURLToPath } from 'node:url';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import { readMigrationFiles } from 'drizzle-orm/migrator';

export interface AppliedMigration {
  hash: string;
  created_at: number;
}

/** `drizzle/` stands in the package root, two levels above this file in `src` as in `dist`. */
export function migrationsFolder(engine: 'postgres' | 'sqlite'): string {
  return fileURLToPath(new URL(`../../drizzle/${engine}`, import.meta.url));
}

export function shippedMigrations(engine: 'postgres' | 'sqlite'): MigrationMeta[] {
  return readMigrationFiles({ migrationsFolder: migrationsFolder(engine) });
}

/** What is still to run. Throws where the database had a migration that is not ours, or not as we know it. */
export function pendingMigrations(shipped: MigrationMeta[], applied: AppliedMigration[]): MigrationMeta[] {
  applied.forEach(({ hash }, position) => {
    const ours = shipped[position];
    if (ours === undefined) throw new Error('the database was migrated by a newer release');
    if (ours.hash !== hash) throw new Error(`migration ${position} is not the one that the database had`);
  });
  return shipped.slice(applied.length);
}

export function migrationProblems(shipped: MigrationMeta[], applied: AppliedMigration[]): string[] {
  try {
    const pending = pendingMigrations(shipped, applied);
    return pending.length === 0 ? [] : [`${pending.length} migrations are still to run: mwp migrate`];
  } catch (error) {
    return [(error as Error).message];
  }
}
