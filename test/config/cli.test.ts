// The `mwp` command: its words, its exit codes, and as a process that ends on a signal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newMasterKeyText } from '../../src/platform/master-key.ts';
import { runMwp } from '../support/command-line.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mwp-cli-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string[], environment: Record<string, string> = {}) =>
  runMwp(args, { MWP_DATA_DIR: join(folder, 'data'), ...environment });

/** As a process of its own, once it serves. */
async function served(environment: Record<string, string>) {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'serve'], {
    env: { PATH: process.env['PATH'], MWP_DATA_DIR: folder, MWP_PORT: '0', ...environment },
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      const found = /"url":"([^"]+)"/.exec(String(chunk));
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    child.on('close', () => reject(new Error('it did not serve')));
  });
  return { child, ended, url };
}

/** It takes no connections any more. */
const isStopping = (url: string) =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );

describe('mwp', () => {
  it('tells its commands, and each command its options', async () => {
    const overview = await run(['--help']);
    expect(overview.code).toBe(0);
    const names = ['serve', 'migrate', 'org create', 'org list', 'key generate', 'key register', 'key revoke'];
    names.push('token', 'sign', 'backup', 'verify', 'export', 'conformance', 'demo');
    for (const name of names) expect(overview.stdout).toContain(`mwp ${name}`);
    for (const name of names) {
      const help = await run([...name.split(' '), '--help']);
      expect([help.code, help.stderr]).toEqual([0, '']);
      expect(help.stdout).toContain(`mwp ${name}`);
    }
  });

  it('answers a wrong command line with a sentence and exit code 2', async () => {
    for (const args of [
      ['nonsense'],
      ['org'],
      ['org', 'create'],
      ['serve', '--fast'],
      ['key', 'register', '--org', 'x', '--principal', 'olga'],
    ]) {
      const { code, stderr } = await run(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining('mwp: ')]);
    }
  });

  it('answers a wrong environment with a sentence that names the variable and exit code 1', async () => {
    const { code, stdout, stderr } = await run(['serve'], { MWP_PORT: 'eighty' });
    expect([code, stdout, stderr]).toEqual([1, '', 'mwp: MWP_PORT must be a whole number from 0 to 65535.\n']);
  });

  it('names the variable behind a folder, a database or an address that cannot be used', async () => {
    const database = { DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/mwp', MWP_MASTER_KEY: newMasterKeyText() };
    for (const command of [['serve'], ['migrate'], ['org', 'list']]) {
      const { code, stderr } = await run(command, database);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^mwp: DATABASE_URL leads to no usable database: .+\.\n$/),
      ]);
      expect(stderr).not.toContain('hunter2');
      const folderless = await run(command, { MWP_DATA_DIR: MAIN });
      expect([folderless.code, folderless.stderr]).toEqual([
        1,
        expect.stringMatching(/^mwp: MWP_DATA_DIR cannot be used: /),
      ]);
    }
    const blobless = await run(['serve'], { MWP_BLOBS_DIR: join(MAIN, 'blobs') });
    expect([blobless.code, blobless.stderr]).toEqual([
      1,
      expect.stringMatching(/^mwp: MWP_BLOBS_DIR \(.*main\.ts\/blobs\) cannot be used: .*ENOTDIR\.\n$/),
    ]);
    const nowhere = await run(['serve'], { MWP_HOST: '300.1.1.1' });
    expect([nowhere.code, nowhere.stderr]).toEqual([1, 'mwp: MWP_HOST is no address of this machine.\n']);
  });

  it('tells in one sentence what is wrong with a master key, a database file or a URL that nobody can use', async () => {
    const data = join(folder, 'data');
    const spoil = {
      'a folder in place of the key': () => mkdirSync(join(data, 'master.key'), { mode: 0o700 }),
      'a link to nowhere in place of the key': () => symlinkSync(join(data, 'nowhere'), join(data, 'master.key')),
      'a folder in place of the database': () => mkdirSync(join(data, 'mwp.db')),
      'what is no database': () =>
        writeFileSync(join(data, 'mwp.db'), 'no database at all, but long enough'.repeat(99)),
    };
    for (const [what, spoiled] of Object.entries(spoil)) {
      mkdirSync(data, { mode: 0o700 });
      spoiled();
      const { code, stdout, stderr } = await run(['serve']);
      expect([what, code, stdout, stderr]).toEqual([what, 1, '', expect.stringMatching(/^mwp: MWP_DATA_DIR .+\.\n$/)]);
      rmSync(data, { recursive: true });
    }
    for (const url of ['postgres://u:%zz@127.0.0.1/mwp', 'postgres://127.0.0.1/%', 'postgres://127.0.0.1/mwp?a=%C0']) {
      const { code, stderr } = await run(['serve'], { DATABASE_URL: url, MWP_MASTER_KEY: newMasterKeyText() });
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^mwp: DATABASE_URL .*percent.*\.\n$/)]);
    }
  });

  it('makes and lists Organizations, registers and revokes keys, straight on the database', async () => {
    const made = await run(['org', 'create', '--slug', 'acme', '--name', 'Acme Inc.']);
    expect(made.code).toBe(0);
    const { organizationId } = JSON.parse(made.stdout) as { organizationId: string };
    const list = await run(['org', 'list']);
    expect(list.stdout).toBe(`acme\t${organizationId}\tAcme Inc.\n`);
    const again = await run(['org', 'create', '--slug', 'acme', '--name', 'Acme Inc.']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('INVALID_STATE_TRANSITION')]);

    const file = join(folder, 'olga.json');
    const generated = await run(['key', 'generate', '--key-id', 'urn:test:key:olga', '--out', file]);
    const key = JSON.parse(readFileSync(file, 'utf8')) as { keyId: string; publicKey: string; seed: string };
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(generated.stdout).not.toContain(key.seed);
    expect((await run(['key', 'generate', '--out', file])).code).toBe(1);
    const olga = ['--org', 'acme', '--principal', 'human:urn:test:olga', '--key-id', key.keyId];
    const register = ['key', 'register', ...olga, '--public-key', key.publicKey];
    expect((await run(register)).stderr).toContain('no such principal');
    expect((await run([...register, '--name', 'Olga'])).code).toBe(0);
    expect((await run(['key', 'revoke', '--org', 'acme', '--key-id', key.keyId])).code).toBe(0);
    expect((await run(['key', 'revoke', '--org', 'acme', '--key-id', 'urn:test:key:none'])).stderr).toContain(
      'no such key',
    );
  });

  it('MWP_PORT in use, and a second signal of either name while it stops, end it with 1', async () => {
    for (const [first, second] of [
      ['SIGTERM', 'SIGTERM'],
      ['SIGINT', 'SIGTERM'],
      ['SIGTERM', 'SIGINT'],
    ] as const) {
      const { child, ended, url } = await served({});
      // Half a request is under way, which the stop waits for.
      const { port } = new URL(url);
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      const head = 'POST /v1/orgs/x/auth/challenge HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
      socket.write(`${head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`);
      await once(socket, 'data');
      expect((await run(['serve'], { MWP_PORT: port })).stderr).toBe('mwp: MWP_PORT is in use by another process.\n');
      const begun = performance.now();
      child.kill(first);
      while (!(await isStopping(url))) await delay(20);
      child.kill(second);
      expect(await ended).toBe(1);
      expect(performance.now() - begun).toBeLessThan(3_000);
      socket.destroy();
    }
  });

  it('serves until a signal comes, over the network also for its own commands, and ends with 0', async () => {
    const token = 'an-operator-token-for-tests';
    const { child, ended, url } = await served({ MWP_OPERATOR_TOKEN: token });
    const remote = await run(['org', 'create', '--slug', 'remote', '--name', 'R', '--url', url], {
      MWP_OPERATOR_TOKEN: token,
    });
    expect([remote.code, remote.stderr]).toEqual([0, '']);
    const wrong = await run(['org', 'list', '--url', url], { MWP_OPERATOR_TOKEN: `${token}x` });
    expect([wrong.code, wrong.stderr]).toEqual([1, 'mwp: AUTH_REQUIRED: the operator token is required\n']);
    expect((await run(['org', 'list', '--url', url])).code).toBe(2);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
