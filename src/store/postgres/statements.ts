// How statements of the hosted store are put together, where that is not plain.
import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** The clock of the database, as text. */
export const CLOCK = 'SELECT mwp.clock_text() AS now';

/**
 * The columns that this release knows, by name. With `SELECT *` the answer of a prepared statement would change its form
 * when the next release adds a column while we serve, and PostgreSQL refuses to go on.
 */
export function columnsOf(table: PgTable): string {
  return Object.values(getTableColumns(table))
    .map(({ name }) => name)
    .join(', ');
}

/**
 * Runs `select` once for each text of a JSON array, which it knows as `wanted.id`. OFFSET 0 keeps PostgreSQL from turning
 * this into a join, which it may plan as a scan of the whole tenant; and such a plan is kept.
 */
export function forEachOf(parameter: string, select: string): string {
  return `SELECT found.* FROM (SELECT DISTINCT value AS id FROM json_array_elements_text(${parameter}::json)) AS wanted
    CROSS JOIN LATERAL (${select} OFFSET 0) AS found`;
}
