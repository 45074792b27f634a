// `mwp export` is killed beside a service: wherever it ends, under the file's name there is nothing or a bundle that proves
// itself, and the service has not noticed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';

const MWP = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
/** Milliseconds; an export that takes longer hangs. */
const EXPORT_MAXIMUM = 60_000;

/** Milliseconds of load before, so that there is more than one write. */
const PLAYED = 500;

/** When it is killed: its file has begun, the file has its name, or after a share of what a whole export takes. */
const MOMENTS = ['begun', 'named', 'sometime'] as const;

export async function killExports(theatre: Theatre, kills: number, tally: Tally): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-exports-'));
  const file = (name: string) => join(folder, `${name}.bundle`);
  try {
    await theatre.play(PLAYED);
    // What it reads is one snapshot of the database: the load would only take its time.
    await theatre.stage.gate.close();
    const begun = performance.now();
    await expectWhole(theatre, file('first'), tally);
    const whole = performance.now() - begun;
    for (let kill = 1; kill <= kills; kill += 1) {
      const moment = MOMENTS[kill % MOMENTS.length];
      const path = file(`${kill}-${moment}`);
      const isNamed = await killOne(
        theatre,
        path,
        moment === 'sometime' ? theatre.stage.chance.whole(0, whole) : moment,
      );
      tally.fault();
      if (isNamed)
        tally.expect((await ended(verify(theatre, path))) === 0, `killed (${moment}), ${path} proves nothing`);
      // Nothing that it left stands in the way of the next one.
      else if (kill === kills) await expectWhole(theatre, path, tally);
    }
    tally.expect(theatre.service.isRunning, 'the service did not survive');
    await theatre.examine(tally, { whole: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Is there a file of that name? */
async function killOne(theatre: Theatre, file: string, when: 'begun' | 'named' | number | undefined): Promise<boolean> {
  const folder = join(file, '..');
  const found = () => readdirSync(folder).filter((name) => name.startsWith(basename(file)));
  const child = exporting(theatre, file);
  const isOver = ended(child);
  if (typeof when === 'number') await delay(when);
  else {
    const watcher = watch(folder);
    const isTime = () => (when === 'named' ? found().includes(basename(file)) : found().length > 0);
    const seen = new Promise<void>((resolve) => watcher.on('change', () => isTime() && resolve()));
    await Promise.race([seen, isOver]);
    watcher.close();
  }
  child.kill('SIGKILL');
  await isOver;
  return found().includes(basename(file));
}

async function expectWhole(theatre: Theatre, file: string, tally: Tally): Promise<void> {
  tally.expect((await ended(exporting(theatre, file))) === 0, `${file} could not be exported`);
  tally.expect((await ended(verify(theatre, file))) === 0, `${file} does not prove itself`);
}

function exporting(theatre: Theatre, file: string): ChildProcess {
  const [organization] = theatre.organizations;
  if (!organization) throw new Error('nothing to export');
  const { slug, hot } = organization;
  return mwp(theatre, ['export', '--org', slug, '--group', hot.groupId, '--out', file]);
}

function verify(theatre: Theatre, file: string): ChildProcess {
  return mwp(theatre, ['verify', '--bundle', file]);
}

function mwp({ ground }: Theatre, args: string[]): ChildProcess {
  const env = { ...process.env, ...ground.environment() };
  return spawn(process.execPath, [MWP, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: EXPORT_MAXIMUM,
  });
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
