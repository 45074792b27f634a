// The service is killed under load: at random moments, some of them while it starts, and at each named point.
import { setTimeout as delay } from 'node:timers/promises';
import { NAMED_POINTS, type NamedPoint } from '../../../src/store/port.ts';
import type { Tally } from '../report.ts';
import { ERASURE_POINTS } from './erasures.ts';
import type { Theatre } from '../theatre.ts';

/** Milliseconds of load before a kill: up to well beyond what a first Command takes on a cold service. */
const LOAD_MAXIMUM_MS = 800;
/** Milliseconds into a start, when the start itself is killed. */
const START_MAXIMUM_MS = 250;
const KILLED_AT_START = 0.1;
/** Everything at once is folded again after so many kills; it takes longer the more there is. */
const WHOLE_LOOK_AFTER = 25;

export async function killAtRandom(theatre: Theatre, kills: number, tally: Tally): Promise<void> {
  const { chance } = theatre.stage;
  for (let kill = 1; kill <= kills; kill += 1) {
    await theatre.play(chance.whole(0, LOAD_MAXIMUM_MS));
    await theatre.service.kill();
    await killedWhileStarting(theatre, tally);
    await lookAfterKill(theatre, tally, kill % WHOLE_LOOK_AFTER === 0 || kill === kills);
  }
}

async function killedWhileStarting(theatre: Theatre, tally: Tally): Promise<void> {
  const { chance } = theatre.stage;
  while (chance.isLucky(KILLED_AT_START)) {
    const service = theatre.another();
    await service.begin(theatre.ground.environment());
    await delay(chance.whole(0, START_MAXIMUM_MS));
    await service.kill();
    tally.fault();
  }
}

/** Of what is done beside the traffic. What was under way there is proven from the rows and blobs at once. */
const PROVEN: readonly NamedPoint[] = ['segment-stored', 'segment-sealed', 'snapshot-stored', 'snapshot-recorded'];
/** Passings before the one at which the service ends, so that there is load; rare ones are passed a few times only. */
const PASSINGS_MAXIMUM = 40;
const RARE: readonly NamedPoint[] = [
  'renditions-due',
  'registry-locked',
  'registry-written',
  'audit-due',
  'audit-recorded',
  'audit-seal-begun',
  'audit-blob-stored',
  'audit-sealed',
  'receipt-found',
  'challenge-consumed',
  ...PROVEN,
];
const RARE_PASSINGS_MAXIMUM = 3;
/**
 * A point that is not passed under this much load is not passed at all. What comes after an archival takes longest: its snapshot
 * stands in line behind those that the small window asks for, and each step of one waits while the load has its turn.
 */
const PASSED_MAXIMUM_MS = 60_000;
/** Its COMMIT is one call. */
const NOT_ON_SQLITE: readonly NamedPoint[] = ['commit-sent'];

/** Passed by erasures only, in a chapter of their own. */
const NOT_PLAYED: readonly NamedPoint[] = ERASURE_POINTS;

export async function killAtPoints(theatre: Theatre, only: NamedPoint | undefined, tally: Tally): Promise<void> {
  // First those after which everything is proven, which takes longer the more there is.
  const points = [...PROVEN, ...NAMED_POINTS.filter((point) => !PROVEN.includes(point))]
    .filter((point) => only === undefined || point === only)
    .filter((point) => !NOT_PLAYED.includes(point))
    .filter((point) => theatre.ground.engine !== 'sqlite' || !NOT_ON_SQLITE.includes(point));
  for (const [at, point] of points.entries()) {
    const most = RARE.includes(point) ? RARE_PASSINGS_MAXIMUM : PASSINGS_MAXIMUM;
    theatre.service.setTrap({ point, passing: theatre.stage.chance.whole(1, most), signal: 'SIGKILL' });
    theatre.stage.gate.open();
    const tooLong = new AbortController();
    const isPassed = await Promise.race([
      theatre.service.ended.then(() => true),
      delay(PASSED_MAXIMUM_MS, false, { signal: tooLong.signal }),
    ]);
    tooLong.abort();
    tally.expect(isPassed, `${point} is never passed`);
    if (!isPassed) await theatre.service.kill();
    await lookAfterKill(theatre, tally, at === points.length - 1 || PROVEN.includes(point), point);
  }
}

async function lookAfterKill(theatre: Theatre, tally: Tally, whole: boolean, point?: NamedPoint): Promise<void> {
  tally.fault();
  const { service } = theatre;
  const end = await service.ended;
  tally.expect(end === 'SIGKILL', `the service ended by itself: ${end}`);
  // The database was there all the time, so there is nothing that it may have complained of.
  for (const alarm of service.alarms) tally.violation(`the service alarmed: ${alarm}`);
  await theatre.stage.gate.close();
  await theatre.serve();
  const { unanswered, happened } = await theatre.examine(tally, { whole });
  if (point !== undefined) {
    console.log(`  ${theatre.ground.engine}, ${point}: ${unanswered} unanswered, ${happened} of them had happened`);
  }
}
