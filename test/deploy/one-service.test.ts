// One service per data folder: a second one is refused with a sentence, and a dead one holds nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/main.ts';
import { mwp } from './command.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mwp-one-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = () => startService(readConfig({ MWP_DATA_DIR: folder, MWP_PORT: '0', MWP_LOG_LEVEL: 'silent' }));

it('a second service on a data folder is refused, in this process and in another; other commands are not', async () => {
  const service = await start();
  const second = await mwp(['serve'], { MWP_DATA_DIR: folder, MWP_PORT: '0' });
  expect([second.code, second.stderr]).toEqual([1, expect.stringMatching(/another service runs on this data folder/)]);
  await expect(start()).rejects.toThrow(/another service runs on this data folder/);
  const created = await mwp(['org', 'create', '--slug', 'acme', '--name', 'Acme'], { MWP_DATA_DIR: folder });
  expect(created.code).toBe(0);
  expect((await mwp(['verify'], { MWP_DATA_DIR: folder })).code).toBe(0);
  await service.stop();
  const next = await start();
  await next.stop();
});

it('a service that was killed holds its folder no longer, and one that could not start does not hold it either', async () => {
  const env = { PATH: process.env['PATH'] ?? '', MWP_DATA_DIR: folder, MWP_PORT: '0' };
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'serve'], { env });
  await once(createInterface({ input: child.stdout }), 'line');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const service = await start();
  const { port } = new URL(service.url);
  await service.stop();
  await expect(
    startService(readConfig({ MWP_DATA_DIR: folder, MWP_HOST: '192.0.2.1', MWP_PORT: port })),
  ).rejects.toThrow();
  const after = await start();
  await after.stop();
});
