// `npm run test:fault`: no moment is a bad one. See options.ts for what it can be told.
import { killAtPoints, killAtRandom } from './chapters/kills.ts';
import { Grounds } from './grounds.ts';
import { readOptions, type Options } from './options.ts';
import { Chance } from './random.ts';
import { printTable, Tally } from './report.ts';
import { Theatre } from './theatre.ts';
import type { Engine } from '../bench/places.ts';

const options = readOptions(process.argv.slice(2));
if (options) {
  const grounds = new Grounds();
  const tallies: Tally[] = [];
  console.log(`seed ${options.seed}`);
  try {
    for (const engine of options.engines) await playAll(engine, grounds, options, tallies);
  } finally {
    await grounds.close();
  }
  printTable(tallies);
  const failed = tallies.filter(({ violations }) => violations > 0).length;
  const skipped = tallies.filter(({ skipped }) => skipped !== undefined).length;
  console.log(
    `${tallies.length - failed - skipped} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  );
  if (failed > 0) process.exitCode = 1;
}

async function playAll(engine: Engine, grounds: Grounds, options: Options, tallies: Tally[]): Promise<void> {
  const theatre = await Theatre.open(await grounds.open(engine), new Chance(options.seed, engine));
  const chapter = async (name: string, play: (tally: Tally) => Promise<void>) => {
    if (options.only !== undefined && options.only !== name) return;
    const tally = new Tally(engine, name);
    tallies.push(tally);
    await play(tally);
    tally.end();
  };
  try {
    await chapter('kills', (tally) => killAtRandom(theatre, options.kills, tally));
    await chapter('points', (tally) => killAtPoints(theatre, options.point, tally));
  } finally {
    await theatre.close();
  }
}
