// `npm run bench`: how many Commands a second the service accepts over HTTP, and what share that is of its floor. One
// engine at a time; service, load and floor are processes of their own.
import { resolve } from 'node:path';
import { openWire } from '../contract/proxy.ts';
import { Child } from './child.ts';
import type { FloorOrder } from './floor.ts';
import { measureGrowth } from './growth.ts';
import type { LoadFigures, LoadOrder } from './load.ts';
import { readOptions, type Options } from './options.ts';
import { Places, type Engine, type Place } from './places.ts';
import { printTable, type Line } from './report.ts';
import { median, type Figures } from './samples.ts';
import { serve, type Serving } from './serving.ts';
import { measureVerification } from './verification.ts';
import { makeWorld, type World } from './world.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** More than two cores take in a second, so that a point does not end early. */
const COMMANDS_PER_SECOND_MAXIMUM = 1_500;
const FLOOR_WARM_UP_SECONDS = 1;
/** Round trips are counted over so many Commands. */
const COUNTED_COMMANDS = 200;

const POINTS = [
  { name: '1 client', clients: 1, hot: false },
  { name: '8 clients', clients: 8, hot: false },
  { name: '32 clients', clients: 32, hot: false },
  { name: '96 clients', clients: 96, hot: false },
  { name: '8, one hot Group', clients: 8, hot: true },
];
type Point = (typeof POINTS)[number];

interface Candidate {
  name: string;
  checkout: string;
  place: Place;
  serving: Serving;
  world: World;
}

interface Processes {
  load: Child<LoadOrder, LoadFigures>;
  floor: Child<FloorOrder, Figures>;
}

const options = readOptions(process.argv.slice(2));
if (options?.verify) {
  await measureVerification([ROOT, ...(options.against ? [resolve(options.against)] : [])]);
} else if (options) {
  const processes: Processes = { load: new Child('load.ts'), floor: new Child('floor.ts') };
  try {
    for (const engine of options.engines) {
      if (options.growth) await measureGrowth(engine, { ...options, ...options.growth }, processes.load);
      else await measureEngine(engine, options, processes);
    }
  } finally {
    processes.load.end();
    processes.floor.end();
  }
}

async function measureEngine(engine: Engine, options: Options, processes: Processes): Promise<void> {
  const places = new Places();
  const candidates: Candidate[] = [];
  try {
    const checkouts = [['here', ROOT], ...(options.against ? [['against', resolve(options.against)]] : [])];
    for (const [name, checkout] of checkouts as [string, string][]) {
      candidates.push(await prepare(name, checkout, await places.open(engine), options));
    }
    const lines: Line[] = [];
    for (const point of POINTS) lines.push(...(await measurePoint(point, candidates, options, processes)));
    printTable(`${engine}, ${options.groups} Groups`, lines);
    for (const candidate of candidates) await candidate.serving.stop();
    if (engine === 'postgres') {
      for (const candidate of candidates) await countRoundTrips(candidate, processes);
    }
  } finally {
    for (const { serving } of candidates) await serving.stop();
    await places.close();
  }
}

async function prepare(name: string, checkout: string, place: Place, options: Options): Promise<Candidate> {
  const { profile } = options;
  const serving = await serve({ checkout, place, ...(profile !== undefined && { profile: resolve(profile) }) });
  const begun = performance.now();
  const world = await makeWorld(serving.url, options.groups).catch(async (error: unknown) => {
    await serving.stop();
    throw error;
  });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(`${place.engine}, ${name}: ${options.groups} Groups prepared in ${seconds} s`);
  return { name, checkout, place, serving, world };
}

/** The floor before the service each time, so that both see the machine in the same mood. */
async function measurePoint(
  { name, clients, hot }: Point,
  candidates: Candidate[],
  { rounds, seconds, warmUpSeconds, groups }: Options,
  { load, floor }: Processes,
): Promise<Line[]> {
  const loads = candidates.map((): LoadFigures[] => []);
  const floors: Figures[] = [];
  const loadOn = async ({ world, serving }: Candidate, forSeconds: number, warmUp: number) => {
    const commands = Math.ceil((forSeconds + warmUp) * COMMANDS_PER_SECOND_MAXIMUM);
    return load.ask({ world, pid: serving.pid, clients, hot, seconds: forSeconds, warmUpSeconds: warmUp, commands });
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, candidate] of candidates.entries()) {
      loads[at]?.push(await loadOn(candidate, seconds, warmUpSeconds));
      if (at > 0) continue;
      const { place } = candidate;
      const streams = hot ? 1 : groups;
      const warmUp = { warmUpSeconds: FLOOR_WARM_UP_SECONDS, seconds: seconds / 2 };
      floors.push(await floor.ask({ place, clients, streams, ...warmUp }));
    }
  }
  const floorFigures = medians(floors);
  return candidates.map((candidate, at) => ({
    point: name,
    of: candidate.name,
    load: medians(loads[at] as LoadFigures[]),
    floor: floorFigures,
  }));
}

/** Of each member over the rounds. */
function medians<Numbers extends object>(rounds: Numbers[]): Numbers {
  const [first] = rounds;
  const members = Object.keys(first ?? {}) as (keyof Numbers)[];
  return Object.fromEntries(
    members.map((member) => [member, median(rounds.map((round) => round[member] as number))]),
  ) as Numbers;
}

/** Through a wire that counts, which would slow down what is measured: so by itself, at the end. */
async function countRoundTrips({ name, checkout, place, world }: Candidate, { load }: Processes): Promise<void> {
  const wire = await openWire(place.address);
  const serving = await serve({ checkout, place: { ...place, address: wire.url } });
  try {
    // One speaker, whose key the service asks about every few seconds whatever is sent.
    const groups = world.groups.filter(({ members }) => members.length === 1 && members[0] === 1);
    const quiet = { ...world, url: serving.url, groups };
    const order = { world: quiet, pid: serving.pid, clients: 1, hot: false, warmUpSeconds: 1 };
    await load.ask({ ...order, seconds: 1, commands: COUNTED_COMMANDS });
    const before = wire.roundTrips();
    const { accepted } = await load.ask({ ...order, seconds: 60, warmUpSeconds: 0, commands: COUNTED_COMMANDS });
    console.log(`${name}: ${((wire.roundTrips() - before) / accepted).toFixed(2)} round trips for each Command`);
  } finally {
    await serving.stop();
    await wire.close();
  }
}
