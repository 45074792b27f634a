// The database is killed or throws everybody out while the service goes on, and the way to it is cut between COMMIT and its
// answer. The service stays up, says that it cannot answer, and is back by itself. PostgreSQL only.
import { setTimeout as delay } from 'node:timers/promises';
import { openWire } from '../../contract/proxy.ts';
import type { EmbeddedPostgres } from '../../../src/platform/embedded-postgres.ts';
import { asOwner } from '../grounds.ts';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';

/** Milliseconds. */
const LOAD_MAXIMUM = 500;
const OUTAGE_MAXIMUM = 400;
const AFTERWARDS = 300;
/** The service opens new connections when asked next; longer than this is not "by itself". */
const RECOVERY_MAXIMUM = 15_000;

/** As a crash of the server's machine but for the disk: nothing is flushed, and it begins again by its own recovery. */
export async function killDatabase(
  theatre: Theatre,
  server: EmbeddedPostgres,
  kills: number,
  tally: Tally,
): Promise<void> {
  const { chance } = theatre.stage;
  const recoveries: number[] = [];
  for (let kill = 1; kill <= kills; kill += 1) {
    await theatre.play(chance.whole(50, LOAD_MAXIMUM));
    process.kill(server.pid(), 'SIGKILL');
    await delay(chance.whole(50, OUTAGE_MAXIMUM));
    await server.startAgain();
    recoveries.push(await untilReady(theatre, tally));
    await theatre.play(AFTERWARDS);
    await lookAfterwards(theatre, tally, kill === kills);
  }
  console.log(`  postgres killed ${kills} times; ready again after ${recoveries.map(Math.round).join(', ')} ms`);
}

/** Every session of the service, in whatever it is. */
export async function endSessions(
  theatre: Theatre,
  server: EmbeddedPostgres,
  times: number,
  tally: Tally,
): Promise<void> {
  const { chance } = theatre.stage;
  let ended = 0;
  for (let time = 1; time <= times; time += 1) {
    await theatre.play(chance.whole(20, LOAD_MAXIMUM / 2));
    const rows = await asOwner(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mwp-authority'`,
    );
    ended += rows.length;
    await theatre.play(chance.whole(20, LOAD_MAXIMUM / 2));
    await lookAfterwards(theatre, tally, time === times);
  }
  tally.expect(ended > 0, 'there was no session to end');
}

/** The service hears nothing of a COMMIT that the database has carried out, or the database nothing of the COMMIT. */
export async function loseAnswers(theatre: Theatre, cuts: number, tally: Tally): Promise<void> {
  const wire = await openWire(theatre.ground.place.address);
  try {
    await theatre.service.kill();
    await theatre.serve(theatre.ground.environment({}, wire.url));
    const { chance } = theatre.stage;
    const before = tally.happened;
    for (let cut = 1; cut <= cuts; cut += 1) {
      theatre.stage.gate.open();
      wire.cutAt('COMMIT\0', chance.isLucky(0.7) ? 'after' : 'before');
      await delay(chance.whole(50, LOAD_MAXIMUM / 2));
      if (cut % 5 === 0 || cut === cuts) await lookAfterwards(theatre, tally, cut === cuts);
      else tally.fault();
    }
    tally.expect(tally.happened > before, 'no cut fell between a COMMIT and its answer');
  } finally {
    await theatre.stage.gate.close();
    await theatre.service.kill();
    await wire.close();
    await theatre.serve();
  }
}

async function lookAfterwards(theatre: Theatre, tally: Tally, whole: boolean): Promise<void> {
  tally.fault();
  tally.expect(theatre.service.isRunning, 'the service did not survive');
  await theatre.examine(tally, { whole });
}

/** Milliseconds. */
async function untilReady(theatre: Theatre, tally: Tally): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const response = await fetch(`${theatre.stage.url}/readyz`).catch(() => undefined);
    if (response?.status === 200) return performance.now() - begun;
    if (performance.now() - begun > RECOVERY_MAXIMUM) {
      tally.violation(`not ready ${RECOVERY_MAXIMUM} ms after the database was back`);
      return RECOVERY_MAXIMUM;
    }
    await delay(20);
  }
}
