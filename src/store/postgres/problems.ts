// What keeps this PostgreSQL database, or the role we have in it, from taking Commands, in sentences.
import type { AppliedMigration } from '../migrations.ts';
import { migrationProblems, shippedMigrations } from '../migrations.ts';
import type { PostgresConnections } from './connections.ts';
import { refusalOf } from './faults.ts';
import type { Transaction } from './transaction.ts';

/** PostgreSQL 15: what the migrations and functions are written for. */
const OLDEST_VERSION = 150_000;

const ABOUT_US = `SELECT rolname, rolsuper, rolbypassrls, current_setting('server_version_num')::int AS version,
    to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS migrated,
    coalesce(has_schema_privilege(current_user, to_regnamespace('mwp'), 'USAGE'), false) AS admitted,
    EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('mwp')
            AND pg_has_role(current_user, relowner, 'MEMBER')) AS owns
  FROM pg_roles WHERE rolname = current_user`;
const OPEN_TABLES = `SELECT relname FROM pg_class
  WHERE relnamespace = to_regnamespace('mwp') AND relkind IN ('r', 'p') AND NOT (relrowsecurity AND relforcerowsecurity)
  ORDER BY relname`;
export const APPLIED = 'SELECT hash, created_at FROM drizzle.__drizzle_migrations ORDER BY id';
/** There is no such function until a migration cannot be served by every release before it (decision 16). */
export const IS_LIMITED = `SELECT to_regprocedure('mwp.migrations_needed()') IS NOT NULL AS limited`;
export const NEEDED = 'SELECT mwp.migrations_needed() AS needed';

export async function postgresProblems(connections: PostgresConnections): Promise<string[]> {
  try {
    return await connections.readAcrossTenants(problemsOf);
  } catch (error) {
    return [sentenceFor(error)];
  }
}

async function problemsOf(transaction: Transaction): Promise<string[]> {
  const [us] = await transaction.query<AboutUs>(ABOUT_US, []);
  if (us === undefined) return ['the database does not know our role'];
  const problems: string[] = [];
  if (us.version < OLDEST_VERSION) problems.push('PostgreSQL must be 15 or newer');
  if (us.rolsuper) problems.push(`role ${us.rolname} is a superuser: row-level security does not hold it`);
  if (us.rolbypassrls) problems.push(`role ${us.rolname} has BYPASSRLS: row-level security does not hold it`);
  if (us.owns) problems.push(`role ${us.rolname} owns tables of the service, or may act for who does`);
  if (!us.migrated) return [...problems, 'the database was never migrated: mwp migrate'];
  if (!us.admitted) return [...problems, `role ${us.rolname} has no right to the schema mwp`];
  const open = await transaction.query<{ relname: string }>(OPEN_TABLES, []);
  for (const { relname } of open) problems.push(`table ${relname} does not force row-level security`);
  const migrations = await transaction.query<AppliedMigration & { [name: string]: unknown }>(APPLIED, []);
  const [limits] = await transaction.query<{ limited: boolean }>(IS_LIMITED, []);
  const [limit] = limits?.limited ? await transaction.query<{ needed: number }>(NEEDED, []) : [];
  return [...problems, ...migrationProblems(shippedMigrations('postgres'), { migrations, needed: limit?.needed ?? 0 })];
}

interface AboutUs {
  [name: string]: unknown;
  rolname: string;
  rolsuper: boolean;
  rolbypassrls: boolean;
  version: number;
  migrated: boolean;
  admitted: boolean;
  owns: boolean;
}

function sentenceFor(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = refusalOf(error)?.code;
  if (/^role ".*" does not exist$/.test(message) || code === '22023') {
    return 'the role of the service does not exist: mwp migrate';
  }
  if (code === '42883' || code === '3F000') return 'migrations are still to run: mwp migrate';
  if (code === '42501') return 'the user of DATABASE_URL may not act as the role of the service';
  // Readiness is told to anybody, and the driver's words hold addresses: the server's own code is all that is passed on.
  return code === undefined ? 'the database does not answer' : `the database does not answer: SQLSTATE ${code}`;
}
