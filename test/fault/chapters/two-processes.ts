// Two services on one PostgreSQL. One is held in the middle of an acceptance, with its locks; the other one gets even those
// once the server ends the session, and then goes on everywhere. The one that wakes overwrites nothing.
import { setTimeout as delay } from 'node:timers/promises';
import { IDLE_IN_TRANSACTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from '../../../src/store/postgres/session.ts';
import { say } from '../players/talk.ts';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';
import { missionCreation } from '../world.ts';

/**
 * Milliseconds that the first one is held at most. What it had asked of the database goes on waiting for locks, one behind the other:
 * each statement gets its lock within its time limit or never, and holds it idle for another one. Those who wait for all of
 * them then have a few seconds, on a busy machine.
 */
const HELD_MAXIMUM = STATEMENT_TIMEOUT_MS + IDLE_IN_TRANSACTION_TIMEOUT_MS + 5_000;
/** At least, so that it wakes without its sessions. */
const HELD_MINIMUM = IDLE_IN_TRANSACTION_TIMEOUT_MS + 2_000;
/** Acceptances under load before the one that is held. */
const PASSINGS = 20;
/** Milliseconds for what the first one had in hand. */
const AFTERWARDS = 500;

export async function holdOneOfTwo(theatre: Theatre, tally: Tally): Promise<void> {
  const first = theatre.service;
  const second = theatre.another();
  await second.start(theatre.ground.environment());
  const { stage } = theatre;
  const firstUrl = stage.url;
  try {
    first.setTrap({ point: 'locked-and-loaded', passing: PASSINGS, signal: 'SIGSTOP' });
    stage.gate.open();
    await first.untilHeld();
    tally.fault();
    // Whoever has asked the first one waits for it; what follows is said to the second.
    stage.url = second.url;
    const scenes = speakEverywhere(theatre);
    const held = performance.now();
    await Promise.all([
      delay(HELD_MINIMUM),
      Promise.race([scenes.ended, delay(HELD_MAXIMUM, undefined, { ref: false })]),
    ]);
    const seconds = Math.round((performance.now() - held) / 1_000);
    const meanwhile = { created: scenes.created, said: scenes.said };
    tally.expect(meanwhile.created > 0, 'no new Group came into being while one of two services was held');
    const everywhere = `${meanwhile.said} of ${scenes.groups}`;
    tally.expect(meanwhile.said === scenes.groups, `its locks outlived the time limit: ${everywhere}`);
    first.signal('SIGCONT');
    await scenes.ended;
    await delay(AFTERWARDS);
    await theatre.examine(tally, { whole: true });
    tally.expect(first.isRunning && second.isRunning, 'a service did not survive');
    console.log(
      `  postgres, one of two held for ${seconds} s: the other took Messages in ${everywhere} Groups meanwhile`,
    );
  } finally {
    await stage.gate.close();
    // The held one had every reason to complain when it woke; that is no finding of the next chapter.
    first.alarms.length = 0;
    await second.kill();
    stage.url = firstUrl;
  }
}

/** Through the service that runs: a Message in every Group, and new Groups, which nobody can hold. */
function speakEverywhere({ organizations }: Theatre) {
  const counts = { created: 0, said: 0, groups: 0, ended: Promise.resolve() };
  const scenes: Promise<void>[] = [];
  for (const { hot, speakers, teams } of organizations) {
    const places = teams.map(({ owner, groupId, conversationId }) => ({ owner, groupId, conversationId }));
    for (const { owner, groupId, conversationId } of [...places, { owner: speakers[0], ...hot }]) {
      if (!owner) continue;
      counts.groups += 1;
      scenes.push(say(owner, groupId, conversationId).then(() => void (counts.said += 1)));
    }
    for (const { owner, coordinator } of teams) {
      scenes.push(owner.submit(missionCreation(coordinator.id).draft).then(() => void (counts.created += 1)));
    }
  }
  counts.ended = Promise.all(scenes).then(() => undefined);
  return counts;
}
