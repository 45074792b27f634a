// `npm run test:fuzz`: hostile input by the hundred thousand, at the service as it is composed for serving. Every answer is
// judged; between slices it is proved that nothing changed that should not have. Exit code 1 on any violation.
import { setImmediate as turn } from 'node:timers/promises';
import { verifyEverything } from '../support/verified.ts';
import { countVerifications } from './cryptography.ts';
import type { World } from './cases.ts';
import { openHost, type Host } from './host.ts';
import { readOptions, type Options } from './options.ts';
import { countOf, differences, overgrown, portraitOf, type Portrait } from './portrait.ts';
import { shoot, type Range, type Shot } from './shooting.ts';
import { Tally } from './tally.ts';
import { makeWorld, nextScene } from './world.ts';

/** Cases between two looks at the tables. */
const SLICE = 2_000;
/** Slices that a scene lasts before accepted changes have worn it out. */
const SLICES_PER_SCENE = 2;
/** Milliseconds. Slower than this among others, a case is asked again alone; slower than this alone, it is too slow. */
const SLOW = 2_000;
const PROGRESS_SECONDS = 30;

const options = readOptions(process.argv.slice(2));
if (options) {
  countVerifications();
  const host = await openHost(options.engine);
  try {
    process.exitCode = await (options.case === undefined ? run(host, options) : runOne(host, options, options.case));
  } finally {
    await host.close();
  }
}

async function run(host: Host, options: Options): Promise<number> {
  console.log(`fuzzing on ${host.engine}, --seed ${options.seed}`);
  const world = await makeWorld(host);
  const tally = new Tally(options);
  const before = await portraitOf(host.behind, world.quiet.organizationId);
  const made = await busyCounts(world);
  host.complaints();
  tally.sampleMemory();
  let told = 0;
  for (let from = 0; tally.requests < options.count && tally.seconds < options.seconds; from += SLICE) {
    if (from > 0 && (from / SLICE) % SLICES_PER_SCENE === 0) await settle(world, made);
    const slice = Math.min(SLICE, options.count - tally.requests);
    await runSlice(world, options, from, slice, tally, made);
    await checkSlice(world, before, `cases ${from} to ${from + slice - 1}`, tally, made);
    const { alive, resident } = tally.sampleMemory();
    if (tally.seconds - told > PROGRESS_SECONDS) {
      told = tally.seconds;
      console.log(
        `  ${Math.round(told)} s: ${tally.requests} requests, ${tally.violations} violations, ${alive} MB alive of ${resident}`,
      );
    }
  }
  tally.checkMemory();
  tally.checkReach();
  await verifyAll(host, [world.quiet, world.busy, world.lab], tally);
  tally.tell();
  return tally.violations === 0 ? 0 : 1;
}

/** A new scene; what its playing accepts is no finding. */
async function settle(world: World, made: Counts): Promise<void> {
  await nextScene(world);
  Object.assign(made, await busyCounts(world));
}

async function runSlice(
  world: World,
  options: Options,
  from: number,
  slice: number,
  tally: Tally,
  made: Counts,
): Promise<void> {
  for (const tenant of [world.quiet, world.busy]) await tenant.freshen();
  const range = await rangeOf(world, options);
  const slow: number[] = [];
  let next = from;
  const work = async () => {
    while (next < from + slice) {
      const caseNumber = next;
      next += 1;
      // Much of what is asked in process never waits for anything; connections have their turn here.
      await turn();
      const shot = await shoot(range, caseNumber);
      note(shot, caseNumber, tally, made);
      if (shot.milliseconds > SLOW) slow.push(caseNumber);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  for (const caseNumber of slow) {
    const again = await shoot(range, caseNumber);
    note(again, caseNumber, tally, made);
    if (again.milliseconds > SLOW)
      tally.violation(`--case ${caseNumber}`, [`took ${again.milliseconds} ms alone`], again.sent);
  }
}

function note(
  { family, outcomes, findings, sent, milliseconds, verifications, accepted }: Shot,
  caseNumber: number,
  tally: Tally,
  made: Counts,
): void {
  for (const outcome of outcomes) tally.count(family, outcome);
  tally.took({ milliseconds, family, caseNumber });
  if (verifications > 0) tally.reachedCryptography += 1;
  if (accepted && family === 'signed') {
    tally.accepted += 1;
    made.receipts += 1;
    made.events += accepted.events;
  }
  if (findings.length > 0) tally.violation(`--family ${family} --case ${caseNumber}`, findings, sent);
}

/** Rows that the answers account for. */
interface Counts {
  receipts: number;
  events: number;
}

async function busyCounts({ host, busy }: World): Promise<Counts> {
  const [receipts = 0, events = 0] = await Promise.all(
    ['receipts', 'events'].map((table) => countOf(host.behind, table, busy.organizationId)),
  );
  return { receipts, events };
}

async function checkSlice(world: World, before: Portrait, where: string, tally: Tally, made: Counts): Promise<void> {
  const { host, quiet, busy } = world;
  const findings = [
    ...differences(before, await portraitOf(host.behind, quiet.organizationId)),
    ...(await overgrown(host.behind, quiet.organizationId)),
    ...(await overgrown(host.behind, busy.organizationId)),
    ...host.complaints(),
  ];
  const counted = await busyCounts(world);
  for (const table of ['receipts', 'events'] as const) {
    if (counted[table] !== made[table])
      findings.push(`${counted[table]} ${table}, but the answers told of ${made[table]}`);
  }
  Object.assign(made, counted);
  if (findings.length > 0) tally.violation(where, findings);
}

async function rangeOf(world: World, { seed, family }: Options): Promise<Range> {
  return { world, seed, only: family, challenge: await world.quiet.challengeOf(world.quietScene.bob) };
}

async function verifyAll({ store }: Host, tenants: readonly { organizationId: string }[], tally: Tally): Promise<void> {
  const shotAt = new Set(tenants.map(({ organizationId }) => organizationId));
  for (const organization of await store.organizations.all('', 1_000)) {
    if (!shotAt.has(organization.organizationId)) continue;
    const faults = await verifyEverything(store, organization);
    if (faults.length > 0) tally.violation(`verify of ${organization.slug}`, faults);
  }
}

async function runOne(host: Host, options: Options, caseNumber: number): Promise<number> {
  const world = await makeWorld(host);
  const shot = await shoot(await rangeOf(world, options), caseNumber);
  console.log(`${shot.family}: ${shot.sent}\n`);
  console.log(`answered: ${shot.outcomes.join(', ')} in ${Math.round(shot.milliseconds)} ms`);
  for (const finding of [...shot.findings, ...host.complaints()]) console.log(`VIOLATION ${finding}`);
  return shot.findings.length === 0 ? 0 : 1;
}
