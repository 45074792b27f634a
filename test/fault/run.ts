// `npm run test:fault`: no moment is a bad one. See options.ts for what it can be told.
import { endSessions, killDatabase, loseAnswers } from './chapters/database.ts';
import { killErasures } from './chapters/erasures.ts';
import { killExports } from './chapters/exports.ts';
import { killFirstStart } from './chapters/first-start.ts';
import { fillDisk } from './chapters/full-disk.ts';
import { killAtPoints, killAtRandom } from './chapters/kills.ts';
import { pauseAtPoints } from './chapters/pauses.ts';
import { holdOneOfTwo } from './chapters/two-processes.ts';
import type { Ground } from './ground.ts';
import { asOwner, Grounds } from './grounds.ts';
import { readOptions, type Options } from './options.ts';
import { Chance } from './random.ts';
import { printTable, Tally } from './report.ts';
import { canLimitFiles, limitFiles, SmallDisk } from './small-disk.ts';
import { Theatre } from './theatre.ts';
import type { Engine } from '../bench/places.ts';

/** Of the kills at random moments, how many of each other fault. */
const FIRST_STARTS = 0.1;
const SESSIONS = 0.1;
const DATABASE = 0.05;
const LOST_ANSWERS = 0.5;
const EXPORTS = 0.15;
const FULL_DISKS = 0.02;
/** Chapters that play on a database of their own. */
const WITH_THEIR_OWN = ['first-start', 'erasures', 'full-disk'];
/** Who is held is looked for there. */
const LINUX_ONLY = ['pauses', 'two-processes'];

const options = readOptions(process.argv.slice(2));
if (options) {
  const grounds = new Grounds();
  const tallies: Tally[] = [];
  console.log(`seed ${options.seed}`);
  // Side by side: one waits for leases and time limits while the other one works.
  const played = await Promise.allSettled(options.engines.map((engine) => playAll(engine, grounds, options, tallies)));
  await grounds.close();
  for (const engine of played) if (engine.status === 'rejected') throw engine.reason;
  printTable(tallies);
  const failed = tallies.filter(({ violations }) => violations > 0).length;
  const skipped = tallies.filter(({ skipped }) => skipped !== undefined).length;
  console.log(
    `${tallies.length - failed - skipped} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  );
  if (failed > 0) process.exitCode = 1;
}

interface Run {
  engine: Engine;
  grounds: Grounds;
  options: Options;
  chance: Chance;
  chapter: (name: string, play: (tally: Tally) => Promise<void>) => Promise<void>;
}

async function playAll(engine: Engine, grounds: Grounds, options: Options, tallies: Tally[]): Promise<void> {
  const chance = new Chance(options.seed, engine);
  const chapter: Run['chapter'] = async (name, play) => {
    if (options.only !== undefined && options.only !== name) return;
    const tally = new Tally(engine, name);
    tallies.push(tally);
    if (process.platform !== 'linux' && LINUX_ONLY.includes(name))
      return tally.skip('it needs /proc to see a process held');
    await play(tally).catch((error: Error) => tally.violation(`broken off: ${error.stack ?? error.message}`));
    tally.end();
  };
  const run: Run = { engine, grounds, options, chance, chapter };
  await chapter('first-start', async (tally) =>
    killFirstStart(await grounds.open(engine), shareOf(options.kills, FIRST_STARTS), chance, tally),
  );
  await playOnOneDatabase(run);
  await chapter('erasures', async (tally) => {
    const theatre = await Theatre.open(await grounds.open(engine), chance);
    await killErasures(theatre, tally).finally(() => theatre.close());
  });
  await chapter('full-disk', (tally) => playOnFullDisk(run, tally));
}

async function playOnOneDatabase({ engine, grounds, options, chance, chapter }: Run): Promise<void> {
  if (options.only !== undefined && WITH_THEIR_OWN.includes(options.only)) return;
  const theatre = await Theatre.open(await grounds.open(engine), chance);
  try {
    await chapter('points', (tally) => killAtPoints(theatre, options.point, tally));
    await chapter('pauses', (tally) => pauseAtPoints(theatre, tally));
    if (engine === 'postgres') {
      const server = await grounds.server();
      await chapter('sessions', (tally) => endSessions(theatre, server, shareOf(options.kills, SESSIONS), tally));
      await chapter('database', (tally) => killDatabase(theatre, server, shareOf(options.kills, DATABASE), tally));
      await chapter('lost-answers', (tally) => loseAnswers(theatre, shareOf(options.kills, LOST_ANSWERS), tally));
      await chapter('two-processes', (tally) => holdOneOfTwo(theatre, tally));
    }
    await chapter('exports', (tally) => killExports(theatre, shareOf(options.kills, EXPORTS), tally));
    await chapter('kills', (tally) => killAtRandom(theatre, options.kills, tally));
    console.log(
      `${engine}: ${theatre.examination.transitions} transitions, ${theatre.stage.ledger.signed} Commands signed, ` +
        `${theatre.examination.segments.count} segments`,
    );
  } finally {
    await theatre.close();
  }
}

async function playOnFullDisk({ engine, grounds, options, chance }: Run, tally: Tally): Promise<void> {
  const disk = await SmallDisk.mount();
  if (!disk && engine === 'postgres') return tally.skip('this process may not mount a small disk');
  if (!disk && !(await canLimitFiles())) return tally.skip('nothing can be mounted, and no file can be limited');
  const times = shareOf(options.kills, FULL_DISKS);
  try {
    const ground = await (disk ? groundOn(disk, engine, grounds) : grounds.open(engine));
    const filling = disk
      ? { fill: () => disk.fill(), makeRoom: () => disk.makeRoom() }
      : {
          fill: ({ service }: Theatre) => limitFiles(service.pid, 1),
          makeRoom: ({ service }: Theatre) => (service.isRunning ? limitFiles(service.pid, 'unlimited') : undefined),
        };
    if (!disk) console.log(`  ${engine}, full-disk: nothing may be mounted here, so its files may not grow instead`);
    const theatre = await Theatre.open(ground, chance);
    try {
      await fillDisk(theatre, filling, times, tally);
    } finally {
      disk?.makeRoom();
      await theatre.close();
    }
  } finally {
    await disk?.unmount();
  }
}

async function groundOn(disk: SmallDisk, engine: Engine, grounds: Grounds): Promise<Ground> {
  if (engine === 'sqlite') return grounds.open(engine, { within: disk.folder });
  const folder = await disk.folderOf('postgres');
  await asOwner(await grounds.server(), `CREATE TABLESPACE small LOCATION '${folder}'`);
  return grounds.open(engine, { tablespace: 'small' });
}

/** At least two, so that each chapter does what it does more than once. */
function shareOf(kills: number, share: number): number {
  return Math.max(2, Math.ceil(kills * share));
}
