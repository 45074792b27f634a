// What keeps this SQLite file from taking Commands, in sentences.
import { migrationProblems, shippedMigrations } from '../migrations.ts';
import type { SqliteConnection } from './connection.ts';
import { appliedMigrations } from './migrate.ts';

/** On the writer: its settings are the ones that count. */
export function sqliteProblems(connection: SqliteConnection, expected: { durable: boolean }): string[] {
  const setting = (name: string) => Object.values(connection.rows(`PRAGMA ${name}`, [])[0] as object)[0] as unknown;
  const problems = migrationProblems(shippedMigrations('sqlite'), appliedMigrations(connection));
  if (setting('journal_mode') !== 'wal')
    problems.push('the journal is not in WAL mode; is the file on a network disk?');
  if (setting('foreign_keys') !== 1) problems.push('foreign keys are not enforced');
  if (expected.durable && setting('synchronous') !== 2) problems.push('commits are not synced to disk');
  return problems;
}
