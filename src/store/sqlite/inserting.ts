// Puts a record into its table on the local store, column by column.
import type { SqliteConnection, Value } from './connection.ts';
import type { InsertStatement } from './statements.ts';

/** Rows inserted. */
export function insertRecord(
  connection: SqliteConnection,
  statement: InsertStatement,
  organizationId: string,
  record: object,
): number {
  const values = statement.columns.map((column) => (record as Record<string, Value>)[column] ?? null);
  return connection.run(statement, organizationId, ...values);
}
