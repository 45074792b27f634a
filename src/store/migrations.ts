// The migrations that ship with the package: where they are, and how what a database has had compares with them.
// They are append-only: one that was applied and then edited is a fault, not something to run again. A release is served
// beside the next one while that takes over, so a database may have had more migrations than we ship.
import { fileURLToPath } from 'node:url';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { StoreFault } from './port.ts';

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

/** What a database says of itself. */
export interface AppliedMigrations {
  migrations: AppliedMigration[];
  /** Of a release that may serve it: how many migrations it must know. 0 where no migration has said anything. */
  needed: number;
}

/**
 * What is still to run: nothing on a database that a newer release has migrated, as long as releases like this one may
 * serve it. Throws where they may not, or where the database had a migration that is not as we know it.
 */
export function pendingMigrations(
  shipped: MigrationMeta[],
  { migrations, needed }: AppliedMigrations,
): MigrationMeta[] {
  shipped.slice(0, migrations.length).forEach(({ hash }, position) => {
    if (hash !== migrations[position]?.hash)
      throw new StoreFault('conflict', `migration ${position} is not the one that the database had`);
  });
  if (needed > shipped.length) {
    throw new StoreFault('conflict', 'the database was migrated by a newer release, past what this one can serve');
  }
  return shipped.slice(migrations.length);
}

export function migrationProblems(shipped: MigrationMeta[], applied: AppliedMigrations): string[] {
  try {
    const pending = pendingMigrations(shipped, applied);
    return pending.length === 0 ? [] : [`${pending.length} migrations are still to run: mwp migrate`];
  } catch (error) {
    return [(error as Error).message];
  }
}
