// A database of its own on somebody's PostgreSQL server, for the demonstration: made, used, dropped. What the server holds
// already is neither read nor changed, and a key that sealed nothing else seals it.
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { faultOf } from './faults.ts';

export interface ThrowawayDatabase {
  url: string;
  name: string;
  /** Ends what is still connected to it. Safe to call twice. */
  drop(): Promise<void>;
}

const MAY_NOT_CREATE_DATABASES = '42501';
const CONNECT_SECONDS_MAXIMUM = 10;

/** Undefined where the role of `url` may not create databases. Throws a StoreFault where the server cannot be reached. */
export async function createThrowawayDatabase(url: string): Promise<ThrowawayDatabase | undefined> {
  const name = `mwp_demo_${randomBytes(6).toString('hex')}`;
  try {
    await run(url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.code === MAY_NOT_CREATE_DATABASES) return undefined;
    throw faultOf(error);
  }
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, name, drop: () => run(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function run(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: CONNECT_SECONDS_MAXIMUM, onnotice: () => undefined });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
