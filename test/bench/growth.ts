// What a Command costs in a large Organization beside what it costs in a small one, of the same code, in turns: nothing that
// is read to decide may grow with what has been accepted before (design section 12).
import { resolve } from 'node:path';
import type { Child } from './child.ts';
import type { LoadFigures, LoadOrder } from './load.ts';
import { Places, type Engine } from './places.ts';
import { median } from './samples.ts';
import { serve, type Serving } from './serving.ts';
import { makeWorld, type World } from './world.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const SMALL = { events: 1_000, workItems: 20 };
/** So few at a time that the small one stays small. */
const SLICE_COMMANDS = 150;
const SLICES = 12;
const CLIENTS = 8;
const KINDS = ['message', 'work'] as const;

const FILLING_CLIENTS = 64;
/** Commands signed at once while filling. */
const FILLING_COMMANDS = 10_000;
const FILLING_TEXT_CHARACTERS = 40;
const NO_HURRY_SECONDS = 3_600;

export interface Growth {
  events: number;
  workItems: number;
  groups: number;
}

interface Organization {
  name: string;
  serving: Serving;
  world: World;
}

export async function measureGrowth(
  engine: Engine,
  { events, workItems, groups }: Growth,
  load: Child<LoadOrder, LoadFigures>,
): Promise<void> {
  const places = new Places();
  const servings: Serving[] = [];
  const prepare = async (name: string, size: { events: number; workItems: number }): Promise<Organization> => {
    const place = await places.open(engine);
    const filling = await serve({ checkout: ROOT, place });
    servings.push(filling);
    const world = await makeWorld(filling.url, groups);
    await fill({ name, serving: filling, world }, size, groups, load);
    await filling.stop();
    // A process that has filled the large one is the warmer of the two: both are measured from a fresh start.
    const serving = await serve({ checkout: ROOT, place });
    servings.push(serving);
    return { name, serving, world: { ...world, url: serving.url } };
  };
  try {
    const small = await prepare('small', SMALL);
    const large = await prepare('large', { events, workItems });
    for (const kind of KINDS) await measureKind(engine, kind, [small, large], load);
  } finally {
    for (const serving of servings) await serving.stop();
    await places.close();
  }
}

async function measureKind(
  engine: Engine,
  kind: (typeof KINDS)[number],
  organizations: [small: Organization, large: Organization],
  load: Child<LoadOrder, LoadFigures>,
): Promise<void> {
  const slice = (organization: Organization) =>
    send(organization, { commands: SLICE_COMMANDS, clients: CLIENTS, kind }, load);
  for (const organization of organizations) await slice(organization);
  const [small, large] = organizations;
  const times: number[] = [];
  const processor: number[] = [];
  for (let turn = 0; turn < SLICES; turn += 1) {
    const before = await slice(small);
    const after = await slice(large);
    times.push(before.perSecond / after.perSecond);
    processor.push(after.cpuPerCommandMilliseconds / before.cpuPerCommandMilliseconds);
  }
  const command = kind === 'work' ? 'work.authorize' : 'message.post';
  console.log(
    `${engine}, ${command}: ${median(times).toFixed(2)} times the time, ${median(processor).toFixed(2)} times the processor ` +
      `time of the service (medians of ${SLICES} slices of ${SLICE_COMMANDS} Commands, ${CLIENTS} clients)`,
  );
}

async function fill(
  organization: Organization,
  { events, workItems }: { events: number; workItems: number },
  groups: number,
  load: Child<LoadOrder, LoadFigures>,
): Promise<void> {
  const begun = performance.now();
  await send(organization, { commands: workItems, clients: FILLING_CLIENTS, kind: 'work' }, load);
  // Creating a Group and authorizing work have left an Event each, and a few more.
  for (let left = events - workItems - groups; left > 0; left -= FILLING_COMMANDS) {
    const commands = Math.min(left, FILLING_COMMANDS);
    await send(organization, { commands, clients: FILLING_CLIENTS, textCharacters: FILLING_TEXT_CHARACTERS }, load);
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  console.log(
    `${organization.name}: ${events} Events and ${workItems} WorkItems in ${groups} Groups, after ${seconds} s`,
  );
}

function send(
  { serving, world }: Organization,
  order: Pick<LoadOrder, 'commands' | 'clients' | 'kind' | 'textCharacters'>,
  load: Child<LoadOrder, LoadFigures>,
): Promise<LoadFigures> {
  return load.ask({ world, pid: serving.pid, hot: false, warmUpSeconds: 0, seconds: NO_HURRY_SECONDS, ...order });
}
