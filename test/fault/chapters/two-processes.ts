// Two services on one PostgreSQL. One is held in the middle of an acceptance, with its locks; the other one gets even those
// once the server ends the session, and then goes on everywhere. The one that wakes overwrites nothing.
import { setTimeout as delay } from 'node:timers/promises';
import { IDLE_IN_TRANSACTION_TIMEOUT_MS } from '../../../src/store/postgres/session.ts';
import { say } from '../players/talk.ts';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';
import { missionCreation } from '../world.ts';

/**
 * Milliseconds that the first one is held: longer than the server lets two transactions idle, by enough for all who waited. A
 * change of the Registry may stand in line behind the first, of the same held process, and everybody of its tenant behind
 * that, so nothing is promised sooner.
 */
const HELD = 2 * IDLE_IN_TRANSACTION_TIMEOUT_MS + 5_000;
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
    await delay(HELD);
    const meanwhile = { created: scenes.created, said: scenes.said };
    tally.expect(meanwhile.created > 0, 'no new Group came into being while one of two services was held');
    const everywhere = `${meanwhile.said} of ${scenes.groups}`;
    tally.expect(meanwhile.said === scenes.groups, `its locks outlived the time limit: ${everywhere}`);
    first.signal('SIGCONT');
    await scenes.ended;
    await delay(AFTERWARDS);
    await theatre.examine(tally, { whole: true });
    tally.expect(first.isRunning && second.isRunning, 'a service did not survive');
    const seconds = HELD / 1_000;
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
