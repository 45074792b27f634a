// A release on a database that a newer one has migrated: it starts and serves, because releases are replaced one process
// at a time and sometimes taken back, until a migration says that it cannot (decision 16).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shippedMigrations } from '../../src/store/migrations.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';

const REFUSAL = /migrated by a newer release, past what this one can serve/;

describe.each(STORES)('an older release on a newer database, $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  beforeEach(async () => {
    opened = await open();
    behind = lookBehind(opened);
    const journal = name === 'postgres' ? 'drizzle.__drizzle_migrations' : '__drizzle_migrations';
    await behind.query(`INSERT INTO ${journal} (hash, created_at) VALUES ('of the next release', 9999999999999)`);
  });
  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  const migrate = () => (name === 'postgres' ? migratePostgres(opened.address) : migrateSqlite(opened.address));

  /** What a migration does that older releases cannot serve after. */
  async function require(migrations: number): Promise<void> {
    if (name === 'sqlite') await behind.query(`PRAGMA user_version = ${migrations}`);
    else {
      await behind.query(
        `CREATE OR REPLACE FUNCTION mwp.migrations_needed() RETURNS integer LANGUAGE sql IMMUTABLE RETURN ${migrations}`,
      );
    }
  }

  it('starts, is ready and takes Commands', async () => {
    await migrate();
    expect(await opened.store.problems()).toEqual([]);
    const tenant = await Tenant.create(opened.store);
    await tenant.agent('worker');
  });

  it('serves as long as it knows as many migrations as are needed, and not with one fewer', async () => {
    const known = shippedMigrations(name).length;
    await require(known);
    await migrate();
    expect(await opened.store.problems()).toEqual([]);
    await require(known + 1);
    expect(await opened.store.problems()).toEqual([expect.stringMatching(REFUSAL)]);
    await expect(migrate()).rejects.toThrow(REFUSAL);
    await require(0);
  });
});
