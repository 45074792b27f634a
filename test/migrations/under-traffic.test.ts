// The schema of the next release arrives while this one serves (decision 16): nothing stops, fails or is lost.
import type { MigrationMeta } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shippedMigrations } from '../../src/store/migrations.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { startTraffic } from './traffic.ts';

const [hosted] = STORES.filter(({ name }) => name === 'postgres');

function migration(name: string, ...sql: string[]): MigrationMeta {
  return { sql, hash: `of a test: ${name}`, folderMillis: Date.now(), bps: true };
}

const withNext = (...next: MigrationMeta[]) => [...shippedMigrations('postgres'), ...next];

describe('a migration under traffic', () => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let owner: ActorKey;
  beforeEach(async () => {
    opened = await hosted!.open({ maxConnections: 4 });
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store);
    owner = await tenant.human('olga');
  });
  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  it('a column more in each table, an index and a function: who served before goes on, and stays ready', async () => {
    const traffic = startTraffic(tenant, owner);
    await traffic.rounds(4);
    const added = (await behind.tables()).map((table) =>
      migration(table, `ALTER TABLE mwp.${table} ADD COLUMN added_later text`),
    );
    const index = migration('index', 'CREATE INDEX added_index ON mwp.events (organization_id, added_later)');
    await migratePostgres(opened.address, withNext(...added, index));
    await traffic.rounds(8);
    expect(await traffic.stop()).toBeGreaterThanOrEqual(12);
    expect(tenant.alarms).toEqual([]);
    expect(await opened.store.problems()).toEqual([]);
  });

  it('two processes of the next release start at once: each migration runs once', async () => {
    const traffic = startTraffic(tenant, owner);
    await traffic.rounds(1);
    const next = [1, 2, 3].map((number) =>
      migration(`table ${number}`, `CREATE TABLE drizzle.later_${number} (id text)`),
    );
    await Promise.all([1, 2, 3].map(() => migratePostgres(opened.address, withNext(...next))));
    await traffic.rounds(2);
    await traffic.stop();
    const [row] = await behind.query('SELECT count(*)::int AS count FROM drizzle.__drizzle_migrations');
    expect(row).toEqual({ count: shippedMigrations('postgres').length + 3 });
  });

  it('a migration that must wait for a table, held by a dump, lets everybody else pass', async () => {
    const dump = postgres(opened.address, { max: 1, onnotice: () => undefined });
    let finishDump = () => {};
    const held = new Promise<void>((resolve) => (finishDump = resolve));
    let hasBegun = () => {};
    const begun = new Promise<void>((resolve) => (hasBegun = resolve));
    const dumping = dump.begin(async (transaction) => {
      await transaction`SELECT count(*) FROM mwp.events`;
      hasBegun();
      await held;
    });
    await begun;
    let migrated = false;
    const next = migration('blocked', 'ALTER TABLE mwp.events ADD COLUMN added_later text');
    const migrating = migratePostgres(opened.address, withNext(next)).then(() => (migrated = true));
    await behind.untilWaiting(1);
    const traffic = startTraffic(tenant, owner);
    await traffic.rounds(2);
    expect(migrated).toBe(false);
    finishDump();
    await dumping;
    await migrating;
    await traffic.rounds(2);
    await traffic.stop();
    expect(tenant.alarms).toEqual([]);
    await dump.end();
  });

  it('a migration that fails leaves nothing, those before it stay, and the next attempt goes on from there', async () => {
    const good = migration('good', 'CREATE TABLE drizzle.good (id text)');
    const bad = migration('bad', 'CREATE TABLE drizzle.half (id text)', 'SELECT no_such_column');
    await expect(migratePostgres(opened.address, withNext(good, bad))).rejects.toThrow(/no_such_column/);
    expect(
      await behind.query(`SELECT to_regclass('drizzle.good') IS NOT NULL AS good, to_regclass('drizzle.half') AS half`),
    ).toEqual([{ good: true, half: null }]);
    expect(await opened.store.problems()).toEqual([]);
    await migratePostgres(opened.address, withNext(good, migration('mended', 'CREATE TABLE drizzle.half (id text)')));
    expect(await behind.query(`SELECT to_regclass('drizzle.half')::text AS half`)).toEqual([{ half: 'drizzle.half' }]);
  });
});
