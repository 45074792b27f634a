// The restore drill of docs/deployment.md, with pg_dump and pg_restore, from a server that takes Commands all the while to
// an empty one. Runs where a PostgreSQL with its client programs is installed; elsewhere there is nothing to run it with.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyVault } from '../../src/platform/key-vault.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { startTraffic } from '../migrations/traffic.ts';
import { Mission } from '../support/mission.ts';
import { MASTER_KEY as TEST_MASTER_KEY, sealRegistry } from '../support/sealing.ts';
import { Tenant } from '../support/tenant.ts';
import { findPrograms, startCluster, type Cluster } from './cluster.ts';
import { mwp } from './command.ts';

const programs = findPrograms();
const MASTER_KEY = TEST_MASTER_KEY.toString('base64');

/** What stands before the first migration in the manual, for both servers. */
const ROLES = [
  'CREATE ROLE mwp_authority NOLOGIN; CREATE ROLE mwp_directory NOLOGIN',
  'CREATE ROLE mwp_owner LOGIN; GRANT mwp_authority, mwp_directory TO mwp_owner',
  'CREATE ROLE mwp_service LOGIN; GRANT mwp_authority TO mwp_service',
  'CREATE ROLE mwp_backup LOGIN BYPASSRLS; GRANT pg_read_all_data TO mwp_backup',
];

describe.skipIf(programs === undefined)('a dump of PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-dump-'));
  const dump = join(folder, 'mwp.dump');
  let source: Cluster;
  let target: Cluster;
  let store: AuthorityStore;
  let tenant: Tenant;
  beforeAll(async () => {
    [source, target] = await Promise.all([startCluster(programs ?? ''), startCluster(programs ?? '')]);
    for (const cluster of [source, target]) {
      for (const statement of ROLES) await cluster.run('psql', '-qd', cluster.url('postgres'), '-c', statement);
      await cluster.run('psql', '-qd', cluster.url('postgres'), '-c', 'CREATE DATABASE mwp OWNER mwp_owner');
    }
    expect(await mwp(['migrate'], { DATABASE_URL: source.url('mwp', 'mwp_owner') })).toMatchObject({ code: 0 });
    store = await openPostgresStore({ url: source.url('mwp', 'mwp_service'), migrate: true, sealRegistry });
    tenant = await Tenant.create(store, { vault: new KeyVault(Buffer.from(MASTER_KEY, 'base64')) });
  });
  afterAll(async () => {
    await store.close();
    await Promise.all([source.stop(), target.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('GDE-9: by a role that row-level security holds fails loudly, the owner’s too, rather than leave rows out', async () => {
    for (const user of ['mwp_owner', 'mwp_service']) {
      const dumping = source.run('pg_dump', '-Fc', '-f', join(folder, user), '-d', source.url('mwp', user));
      await expect(dumping).rejects.toThrow(/row-level security policy|permission denied/);
    }
  });

  it('taken under traffic, restored to an empty server: verifies, serves, and answers a retry with its receipt', async () => {
    const owner = await tenant.human('olga');
    const mission = Mission.draft(tenant, owner, await tenant.agent('coordinator'));
    const bytes = tenant.sign(owner, mission.creation(), mission.epochsOf(owner));
    const first = await tenant.submitBytes(bytes, owner.principal);
    const traffic = startTraffic(tenant, owner);
    await traffic.rounds(2);
    await source.run('pg_dump', '-Fc', '-f', dump, '-d', source.url('mwp', 'mwp_backup'));
    await traffic.rounds(1);
    await traffic.stop();
    await target.run('pg_restore', '--exit-on-error', '--single-transaction', '-d', target.url('mwp'), dump);

    const environment = { DATABASE_URL: target.url('mwp', 'mwp_service'), MWP_MASTER_KEY: MASTER_KEY };
    const verified = await mwp(['verify'], environment);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toMatch(/^org-\w+ {2}\d+ streams, [1-9]\d* Events folded, 0 faults; 3 of 3 keys open$/m);

    const restored = await openPostgresStore({ url: environment.DATABASE_URL, migrate: true, sealRegistry });
    expect(await restored.problems()).toEqual([]);
    const again = await tenant.submitBytes(bytes, owner.principal, tenant.anotherAuthority(restored));
    if (!first.accepted || !again.accepted) throw new Error('refused');
    expect(again.receipt).toBe(first.receipt);
    const whose = 'SELECT DISTINCT pg_get_userbyid(proowner) FROM pg_proc WHERE prosecdef';
    const owners = await target.run('psql', '-Atd', target.url('mwp'), '-c', whose);
    expect(owners.trim()).toBe('mwp_directory');
    await restored.close();
  });
});
