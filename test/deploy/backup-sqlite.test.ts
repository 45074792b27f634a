// A copy of the local database, taken while the service works, brings back all that was answered before it began; `mwp
// verify` proves it, and says so when it cannot.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { newMasterKeyText } from '../../src/platform/master-key.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { pieces, whole } from '../contract/blob-streams.ts';
import { startTraffic } from '../migrations/traffic.ts';
import { Mission } from '../support/mission.ts';
import { snapshotsOf } from '../support/snapshots.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { MASTER_KEY as TEST_MASTER_KEY, sealRegistry } from '../support/sealing.ts';
import { Tenant } from '../support/tenant.ts';
import { mwp } from './command.ts';

const [local] = STORES.filter(({ name }) => name === 'sqlite');
const MASTER_KEY = TEST_MASTER_KEY.toString('base64');

describe('mwp backup', () => {
  let folder: string;
  let copy: string;
  let opened: OpenedStore;
  let tenant: Tenant;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-backup-'));
    copy = join(folder, 'copy.db');
    opened = await local!.open();
    tenant = await Tenant.create(opened.store, { vault: new KeyVault(Buffer.from(MASTER_KEY, 'base64')) });
  });
  afterEach(async () => {
    await opened.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const backUp = () => mwp(['backup', '--out', copy], { MWP_DATA_DIR: dirname(opened.address) });

  /** As the manual says: an empty folder, the copy, the master key. */
  function restore(masterKey: string | undefined): string {
    const restored = join(folder, 'restored');
    mkdirSync(restored, { mode: 0o700 });
    copyFileSync(copy, join(restored, 'mwp.db'));
    if (masterKey !== undefined) writeFileSync(join(restored, 'master.key'), masterKey, { mode: 0o600 });
    return restored;
  }

  it('under traffic: the copy is whole, verifies, and answers a retry with the receipt of before', async () => {
    const owner = await tenant.human('olga');
    const mission = Mission.draft(tenant, owner, await tenant.agent('coordinator'));
    const bytes = tenant.sign(owner, mission.creation(), mission.epochsOf(owner));
    const first = await tenant.submitBytes(bytes, owner.principal);
    const traffic = startTraffic(tenant, owner);
    await traffic.rounds(3);
    const made = await backUp();
    await traffic.rounds(1);
    await traffic.stop();
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/copy\.db {2}\d+ bytes, whole\nThe master key is not in it/);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['copy.db']);

    const restored = restore(MASTER_KEY);
    const verified = await mwp(['verify'], { MWP_DATA_DIR: restored });
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toMatch(/^org-\w+ {2}\d+ streams, \d+ Events folded, 0 faults; 3 of 3 keys open$/m);
    expect(verified.stdout).toMatch(/^1 Organizations, \d+ streams, \d+ Events folded, 0 faults$/m);

    const store = await openSqliteStore({ file: join(restored, 'mwp.db'), sealRegistry });
    expect(await store.problems()).toEqual([]);
    const again = await tenant.submitBytes(bytes, owner.principal, tenant.anotherAuthority(store));
    if (!first.accepted || !again.accepted) throw new Error('refused');
    expect(again.receipt).toBe(first.receipt);
    await store.close();
  });

  it('with MWP_BLOBS=database the copy holds contents and snapshots, and verify reads them there', async () => {
    const { organization } = tenant;
    const mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
    await snapshotsOf(tenant, opened.store.blobs('snapshots')).takeSnapshot(organization, mission.groupId);
    const bytes = randomBytes(300_000);
    const { hash } = await opened.store.blobs('contents').put(organization.organizationId, pieces(bytes));
    expect(await backUp()).toMatchObject({ code: 0 });

    const restored = restore(MASTER_KEY);
    const environment = { MWP_DATA_DIR: restored, MWP_BLOBS: 'database' };
    const verified = await mwp(['verify'], environment);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).not.toMatch(/are gone/);
    const store = await openSqliteStore({ file: join(restored, 'mwp.db'), sealRegistry });
    expect((await whole(await store.blobs('contents').get(organization.organizationId, hash))).equals(bytes)).toBe(
      true,
    );
    await store.close();

    const change = async (text: string) => {
      const database = new Database(join(restored, 'mwp.db'));
      database.exec(text);
      database.close();
      return mwp(['verify'], environment);
    };
    const ofSnapshots = `blob_id IN (SELECT blob_id FROM blobs WHERE space = 'snapshots')`;
    const damaged = await change(`UPDATE blob_pieces SET bytes = zeroblob(length(bytes)) WHERE ${ofSnapshots}`);
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringMatching(/the blob sha256:\w+ cannot be read/)]);
    const gone = await change(
      `DELETE FROM blob_pieces WHERE ${ofSnapshots}; DELETE FROM blobs WHERE space = 'snapshots'`,
    );
    expect([gone.code, gone.stdout]).toEqual([0, expect.stringMatching(/bytes that it names are gone/)]);
  });

  it('an existing file is left as it is, and a failed copy leaves nothing', async () => {
    writeFileSync(copy, 'somebody’s');
    expect(await backUp()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/copy\.db exists already/) as string,
    });
    expect(statSync(copy).size).toBe(Buffer.byteLength('somebody’s'));
    copy = join(folder, 'no/such/folder.db');
    expect(await backUp()).toMatchObject({ code: 1, stderr: expect.stringMatching(/ENOENT/) as string });
    expect(readdirSync(folder)).toEqual(['copy.db']);
  });

  it('a folder without a database is told, and none is made there, by backup as by verify', async () => {
    const nowhere = join(folder, 'nowhere');
    for (const args of [['backup', '--out', copy], ['verify']]) {
      const { code, stderr } = await mwp(args, { MWP_DATA_DIR: nowhere });
      expect([code, stderr]).toEqual([1, expect.stringMatching(/MWP_DATA_DIR holds no database/)]);
    }
    expect(existsSync(nowhere)).toBe(false);
  });

  it('with another master key, or a changed Event, the copy does not verify', async () => {
    await tenant.agent('ada');
    await backUp();
    const restored = restore(newMasterKeyText());
    const foreign = await mwp(['verify'], { MWP_DATA_DIR: restored });
    expect(foreign.code).toBe(1);
    expect(foreign.stderr).toMatch(/does not open/);
    expect(foreign.stdout).toMatch(/\d+ faults; 0 of 3 keys open/);

    rmSync(join(restored, 'master.key'));
    const untried = await mwp(['verify'], { MWP_DATA_DIR: restored });
    expect(untried.code).toBe(0);
    expect(untried.stdout).toMatch(/3 keys not tried: no master key is set/);

    const database = new Database(join(restored, 'mwp.db'));
    database.exec(`DROP TRIGGER events_body_only_out; UPDATE events SET body = replace(body, 'ada', 'eve')`);
    database.close();
    const altered = await mwp(['verify'], { MWP_DATA_DIR: restored });
    expect(altered.code).toBe(1);
    expect(altered.stderr).toMatch(/: the Event: signature: equation-fails/);
  });

  it('a PostgreSQL database is not copied: the sentence names pg_dump', async () => {
    const { code, stderr } = await mwp(['backup', '--out', copy], { DATABASE_URL: 'postgres://db/mwp' });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/pg_dump/)]);
  });
});
