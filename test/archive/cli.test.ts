// `mwp verify` and `mwp export` as a user runs them on a local database: exit codes, files, sentences.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { link, open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { decodeMasterKey } from '../../src/platform/master-key.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { runMwp } from '../support/command-line.ts';
import { MASTER_KEY, sealRegistry } from '../support/sealing.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { behindDatabase } from '../contract/behind.ts';

vi.mock(import('node:fs/promises'), async (original) => {
  const actual = await original();
  return { ...actual, link: vi.fn(actual.link) };
});
const linking = vi.mocked(link);

const KEY = MASTER_KEY.toString('base64');
let folder: string;
let tenant: Tenant;
let mission: Mission;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mwp-verify-'));
  await play();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function play(more?: () => Promise<void>): Promise<void> {
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  const store = await openSqliteStore({ file: join(folder, 'data/mwp.db'), migrate: true, sealRegistry });
  tenant = await Tenant.create(store, { vault: new KeyVault(decodeMasterKey(KEY) as Uint8Array) });
  mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
  await mission.authorize();
  await more?.();
  await store.close();
}

const run = (...args: string[]) => runMwp(args, { MWP_DATA_DIR: join(folder, 'data'), MWP_MASTER_KEY: KEY });

const file = (name: string) => join(folder, name);
const slug = () => tenant.organization.slug;

describe('mwp verify', () => {
  it('tells each Group with its state hash, writes the heads down, and later demands them', async () => {
    const first = await run('verify', '--write-heads', file('heads.json'));
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toMatch(
      new RegExp(`^${slug()}  ${mission.groupId}  2 Events, revision 2, state sha256:\\S+$`, 'm'),
    );
    expect(first.stdout).toContain('3 of 3 keys open');
    expect((await run('verify', '--heads', file('heads.json'))).code).toBe(0);
    const over = await run('verify', '--write-heads', file('heads.json'));
    expect([over.code, over.stderr]).toEqual([1, expect.stringContaining('is there already')]);
    const text = readFileSync(file('heads.json'), 'utf8');
    writeFileSync(file('other.json'), text.replace(/"position":2/, '"position":3'));
    const moved = await run('verify', '--heads', file('other.json'));
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('position 3 is not what it was')]);
    writeFileSync(file('lost.json'), text.replace(/"organizationId":"[^"]*"/, '"organizationId":"urn:test:lost"'));
    const lost = await run('verify', '--heads', file('lost.json'));
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('urn:test:lost stands in the heads file')]);
    const none = await run('verify', '--heads', file('none.json'));
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^mwp: .*none.json cannot be read: /)]);
  });

  it('exits with 1 at any fault, and writes no heads of a history that it does not believe', async () => {
    const behind = behindDatabase('sqlite', file('data/mwp.db'));
    const change = (sql: string) => behind.query(sql).catch(() => undefined);
    await change(`UPDATE aggregates SET version = version + 1 WHERE kind = 'mission'`);
    await behind.close();
    const { code, stderr } = await run('verify', '--write-heads', file('heads.json'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('not what the Events say in version')]);
    expect(() => statSync(file('heads.json'))).toThrow();
  });

  it('tells wrong combinations of options apart from faults', async () => {
    expect((await run('verify', '--bundle', 'x', '--org', 'y')).code).toBe(2);
    expect((await run('verify', '--authority-key', 'x')).code).toBe(2);
    expect((await run('verify', '--bundle', file('none'))).stderr).toMatch(/^mwp: .* cannot be read: /);
  });

  it('MWP-MSN-009c: proves an original with the database, and changes no body for it', async () => {
    const behind = behindDatabase('sqlite', file('data/mwp.db'));
    const [event] = await behind.query(`SELECT event_id, body FROM events WHERE kind = 'mission.created'`);
    await behind.close();
    writeFileSync(file('event.json'), String(event!['body']));
    const proven = await run('verify', '--original', file('event.json'), '--org', slug());
    expect([proven.code, proven.stderr]).toEqual([0, '']);
    expect(proven.stdout).toContain(`Event ${String(event!['event_id'])}, mission.created: the original of sequence 1`);
    writeFileSync(file('event.json'), String(event!['body']).replace('"revision":1', '"revision":2'));
    const other = await run('verify', '--original', file('event.json'), '--org', slug());
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('its signing hash is sha256:')]);
    expect(other.stdout).toBe('');
  });
});

describe('mwp export', () => {
  const exported = (out: string) => run('export', '--org', slug(), '--group', mission.groupId, '--out', out);

  it('writes a file for its owner alone, once, that proves itself without the database', async () => {
    const { code, stdout, stderr } = await exported(file('group.ndjson'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/ {2}2 Events, state sha256:\S+, Registry revision \d+$/m);
    expect(statSync(file('group.ndjson')).mode & 0o777).toBe(0o600);
    expect((await exported(file('group.ndjson'))).stderr).toContain('is there already');
    renameSync(file('data'), file('elsewhere'));
    const proven = await run('verify', '--bundle', file('group.ndjson'));
    expect([proven.code, proven.stderr]).toEqual([0, '']);
    const { publicKey } = tenant.keyOf(tenant.organization.authority);
    expect(proven.stdout).toMatch(/^completeness attested by the authority at Registry revision \d+$/m);
    expect(proven.stdout).toContain(`public key ${publicKey}`);
    expect((await run('verify', '--bundle', file('group.ndjson'), '--authority-key', publicKey)).code).toBe(0);
    const { publicKey: another } = tenant.keyOf(mission.owner.principal);
    expect((await run('verify', '--bundle', file('group.ndjson'), '--authority-key', another)).code).toBe(1);
    const likeAnOption = `-${another.slice(1)}`;
    expect((await run('verify', '--bundle', file('group.ndjson'), '--authority-key', likeAnOption)).code).toBe(1);
    const text = readFileSync(file('group.ndjson'), 'utf8');
    writeFileSync(file('cut.ndjson'), text.slice(0, text.length / 2));
    const cut = await run('verify', '--bundle', file('cut.ndjson'));
    expect([cut.code, cut.stderr]).toEqual([1, expect.stringMatching(/^mwp: .*cut\.ndjson: cut off: .*\n$/)]);
  });

  it('writes a Group that outgrows every buffer with nothing piling up, and the file is whole', async () => {
    rmSync(file('data'), { recursive: true });
    await play(async () => {
      for (let item = 0; item < 12; item += 1) await mission.authorize({ constraints: { long: 'x'.repeat(30_000) } });
    });
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { code, stderr } = await exported(file('group.ndjson'));
    // Warnings are told a turn later.
    await new Promise(setImmediate);
    process.off('warning', note);
    expect([code, stderr, warnings]).toEqual([0, '', []]);
    expect((await run('verify', '--bundle', file('group.ndjson'))).stdout).toContain('14 Events');
  });

  it('tells a disk that takes no more, and leaves no half file behind', async () => {
    const handle = await open(file('other'), 'w');
    await handle.close();
    const files = Object.getPrototypeOf(handle) as FileHandle;
    const full = vi.spyOn(files, 'writeFile').mockRejectedValue(new Error('ENOSPC: no space left on device'));
    const { code, stderr } = await exported(file('group.ndjson'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^mwp: .*group.ndjson cannot be written: ENOSPC/)]);
    expect(full).toHaveBeenCalled();
    full.mockRestore();
    expect(readdirSync(folder).sort()).toEqual(['data', 'other']);
  });

  it.each([
    ['second names', false],
    ['no second names', true],
  ])(
    'on a file system with %s, what came there meanwhile stays, and the file appears whole or not at all',
    async (_, without) => {
      const handle = await open(file('other'), 'w');
      await handle.close();
      const files = Object.getPrototypeOf(handle) as FileHandle;
      const came = vi
        .spyOn(files, 'sync')
        .mockImplementationOnce(async () => writeFileSync(file('group.ndjson'), 'mine'));
      if (without) linking.mockRejectedValueOnce(Object.assign(new Error('no links'), { code: 'EPERM' }));
      const { code, stderr } = await exported(file('group.ndjson'));
      expect([code, stderr]).toEqual([1, expect.stringContaining('is there already')]);
      came.mockRestore();
      expect(readFileSync(file('group.ndjson'), 'utf8')).toBe('mine');
      rmSync(file('group.ndjson'));
      if (without) linking.mockRejectedValueOnce(Object.assign(new Error('no links'), { code: 'EPERM' }));
      expect((await exported(file('group.ndjson'))).code).toBe(0);
      expect((await run('verify', '--bundle', file('group.ndjson'))).code).toBe(0);
      expect(readdirSync(folder).sort()).toEqual(['data', 'group.ndjson', 'other']);
    },
  );

  it('leaves no file where there is nothing to export', async () => {
    const { code, stderr } = await run('export', '--org', slug(), '--group', 'urn:test:none', '--out', file('none'));
    expect([code, stderr]).toEqual([1, 'mwp: no Group urn:test:none in this Organization\n']);
    expect(() => statSync(file('none'))).toThrow();
    expect((await run('export', '--org', 'nobody', '--group', 'x', '--out', file('none'))).code).toBe(1);
    expect((await run('export', '--org', slug(), '--group', 'x')).code).toBe(2);
  });
});
