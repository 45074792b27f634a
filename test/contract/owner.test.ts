// The owner of a hosted database is seldom a superuser: a role that may create roles must be enough to migrate.
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { leaseDatabase } from '../support/databases.ts';

describe('migrating as an ordinary owner', () => {
  it('works for a role with CREATEROLE that is no superuser, and the service is ready after it', async () => {
    const lease = await leaseDatabase();
    const superuser = postgres(lease.url, { max: 1, onnotice: () => undefined });
    const name = `mwp_test_owner_${randomBytes(6).toString('hex')}`;
    const [row] = await superuser`SELECT current_setting('server_version_num')::integer AS version`;
    // As the creator of a role is given it: from 16 on without the right to act as it.
    const asCreator = Number(row?.['version']) >= 160_000 ? 'WITH ADMIN TRUE, INHERIT FALSE, SET FALSE' : '';
    try {
      await superuser.unsafe(`CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD 'only-here'`);
      await superuser.unsafe(`GRANT mwp_authority, mwp_directory TO ${name} ${asCreator}`);
      await superuser.unsafe(`CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0`);
      const url = new URL(lease.url);
      Object.assign(url, { username: name, password: 'only-here', pathname: `/${name}` });
      await migratePostgres(url.href);
      const store = await openPostgresStore({ url: url.href, maxConnections: 2 });
      expect(await store.problems()).toEqual([]);
      expect(await store.organizations.bySlug('nobody')).toBeUndefined();
      await store.close();
    } finally {
      await superuser.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await superuser.unsafe(`DROP OWNED BY ${name}`);
      await superuser.unsafe(`DROP ROLE ${name}`);
      await superuser.end();
      lease.giveBack();
    }
  });
});
