// Who serves need not be who owns: a login that may only act as mwp_authority starts on a migrated database, and is told
// what to do on any other.
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shippedMigrations } from '../../src/store/migrations.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { leaseDatabase } from '../support/databases.ts';
import { sealRegistry } from '../support/sealing.ts';
import { Tenant } from '../support/tenant.ts';

describe('a login that owns nothing', () => {
  const name = `mwp_test_login_${randomBytes(6).toString('hex')}`;
  let admin: postgres.Sql;
  let giveBack: () => void;
  let url: URL;
  beforeEach(async () => {
    const lease = await leaseDatabase();
    giveBack = lease.giveBack;
    admin = postgres(lease.url, { max: 1, onnotice: () => undefined });
    await admin.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD 'only-here'`);
    url = new URL(lease.url);
    Object.assign(url, { username: name, password: 'only-here' });
  });
  afterEach(async () => {
    await admin.unsafe(`DROP OWNED BY ${name}`);
    await admin.unsafe(`DROP ROLE ${name}`);
    await admin.end();
    giveBack();
  });

  it('GDE-9: starts, is ready and takes Commands with the grant of mwp_authority alone', async () => {
    await admin.unsafe(`GRANT mwp_authority TO ${name}`);
    const store = await openPostgresStore({ url: url.href, migrate: true, maxConnections: 2, sealRegistry });
    expect(await store.problems()).toEqual([]);
    const tenant = await Tenant.create(store);
    await tenant.agent('worker');
    await store.close();
  });

  it('is told that the owner has migrations to run, on a database that lacks some and on an empty one', async () => {
    await admin.unsafe(`GRANT mwp_authority TO ${name}`);
    const next = { sql: ['CREATE TABLE mwp.later (id text)'], hash: 'later', folderMillis: Date.now(), bps: true };
    const sentence = /^1 migrations are still to run, and this user may not: mwp migrate as the owner/;
    await expect(migratePostgres(url.href, [...shippedMigrations('postgres'), next])).rejects.toThrow(sentence);
    await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE template0`);
    url.pathname = `/${name}`;
    await expect(migratePostgres(url.href)).rejects.toThrow(/mwp migrate as the owner/);
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('is told that it may not act as the role of the service, without that grant', async () => {
    await expect(migratePostgres(url.href)).rejects.toThrow(/permission denied/);
  });
});
