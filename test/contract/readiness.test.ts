// Migrations bring a database to the shipped schema once, whoever starts together; readiness refuses everything else, and
// on PostgreSQL also a role that row-level security does not hold.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { leaseDatabase } from '../support/databases.ts';
import { newTenant } from './samples.ts';

describe('readiness of a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-readiness-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function problemsOf(file: string): Promise<string[]> {
    const store = await openSqliteStore({ file });
    try {
      return await store.problems();
    } finally {
      await store.close();
    }
  }

  it('an empty file waits for its migrations; migrated twice at once, it is ready', async () => {
    const file = join(folder, 'fresh.db');
    expect(await problemsOf(file)).toEqual([expect.stringMatching(/migrations are still to run/)]);
    await Promise.all([migrateSqlite(file), migrateSqlite(file)]);
    await migrateSqlite(file);
    expect(await problemsOf(file)).toEqual([]);
  });

  it('what was stored is there after closing and opening', async () => {
    const file = join(folder, 'kept.db');
    const first = await openSqliteStore({ file, migrate: true });
    const org = await newTenant(first);
    await first.close();
    const second = await openSqliteStore({ file, migrate: true });
    expect(await second.organizations.policy(org)).toBeDefined();
    await second.close();
  });

  it('a migration that the file had in another form is refused', async () => {
    const file = join(folder, 'tampered.db');
    await migrateSqlite(file);
    const database = new Database(file);
    database.exec(`UPDATE __drizzle_migrations SET hash = 'other' WHERE id = 2`);
    await expect(migrateSqlite(file)).rejects.toThrow(/migration 1 is not the one/);
    expect(await problemsOf(file)).toEqual([expect.stringMatching(/migration 1 is not the one/)]);
    database.exec(`DELETE FROM __drizzle_migrations; INSERT INTO __drizzle_migrations (hash, created_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT 'x', i FROM n`);
    await expect(migrateSqlite(file)).rejects.toThrow(/migration 0 is not the one/);
    database.close();
  });

  it('a closed store answers with a sentence', async () => {
    const store = await openSqliteStore({ file: ':memory:' });
    await store.close();
    expect(await store.problems()).toEqual([expect.stringMatching(/does not answer/)]);
    await expect(store.organizations.bySlug('x')).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('readiness of a PostgreSQL database', () => {
  let url: string;
  let giveBack: () => void;
  let admin: postgres.Sql;
  const left: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    ({ url, giveBack } = await leaseDatabase());
    admin = postgres(url, { max: 1, onnotice: () => undefined });
  });
  afterAll(async () => {
    for (const clean of left.reverse()) await clean();
    await admin.end();
    giveBack();
  });

  async function problemsOf(address: string, role?: string): Promise<string[]> {
    const store = await openPostgresStore({ url: address, ...(role !== undefined && { role }) });
    try {
      return await store.problems();
    } finally {
      await store.close();
    }
  }

  /** An empty database and a login role that owns it; both are gone afterwards. */
  async function emptyDatabase(name: string): Promise<string> {
    const full = `${new URL(url).pathname.slice(1)}_${name}`;
    await admin.unsafe(`CREATE ROLE ${full} LOGIN PASSWORD 'secret'`);
    await admin.unsafe(`CREATE DATABASE ${full} OWNER ${full} TEMPLATE template0`);
    left.push(async () => {
      await admin.unsafe(`DROP DATABASE ${full} WITH (FORCE)`);
      await admin.unsafe(`DROP ROLE ${full}`);
    });
    const address = new URL(url);
    Object.assign(address, { pathname: `/${full}`, username: full, password: 'secret' });
    return address.href;
  }

  it('a migrated database is ready, and migrating again, twice at once, changes nothing', async () => {
    expect(await problemsOf(url)).toEqual([]);
    const before = await admin`SELECT * FROM drizzle.__drizzle_migrations`;
    await Promise.all([migratePostgres(url), migratePostgres(url)]);
    expect(await admin`SELECT * FROM drizzle.__drizzle_migrations`).toEqual(before);
  });

  it('GDE-9: a superuser, who passes through row-level security, is refused', async () => {
    const { username } = new URL(url);
    expect(await problemsOf(url, username)).toEqual([
      expect.stringMatching(/is a superuser/),
      expect.stringMatching(/has BYPASSRLS/),
      expect.stringMatching(/owns tables/),
    ]);
  });

  it('an owner without being superuser migrates and serves, once it may act as the two roles; as itself it is refused', async () => {
    const address = await emptyDatabase('owned');
    const { username } = new URL(address);
    expect(await problemsOf(address)).toEqual([expect.stringMatching(/may not act as the role/)]);
    await expect(migratePostgres(address)).rejects.toThrow(/permission denied|admin option/);
    await admin.unsafe(`GRANT mwp_authority, mwp_directory TO ${username}`);
    expect(await problemsOf(address)).toEqual([expect.stringMatching(/mwp migrate/)]);
    await Promise.all([migratePostgres(address), migratePostgres(address)]);
    expect(await problemsOf(address)).toEqual([]);
    expect(await problemsOf(address, username)).toEqual([expect.stringMatching(/owns tables/)]);
    const store = await openPostgresStore({ url: address });
    const org = await newTenant(store);
    expect((await store.organizations.all('', 10)).map(({ organizationId }) => organizationId)).toEqual([org]);
    await store.close();
  });

  it('a table that does not force row-level security is named', async () => {
    await admin`ALTER TABLE mwp.texts NO FORCE ROW LEVEL SECURITY`;
    expect(await problemsOf(url)).toEqual(['table texts does not force row-level security']);
    await admin`ALTER TABLE mwp.texts FORCE ROW LEVEL SECURITY`;
  });

  it('a migration that the database had in another form is refused', async () => {
    await admin`UPDATE drizzle.__drizzle_migrations SET hash = 'other' WHERE id = 2`;
    expect(await problemsOf(url)).toEqual([expect.stringMatching(/migration 1 is not the one/)]);
    await expect(migratePostgres(url)).rejects.toThrow(/migration 1 is not the one/);
  });
});
