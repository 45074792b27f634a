// Two services on one PostgreSQL. One is held in the middle of an acceptance, with its locks; the other one goes on, and
// gets even what the first one holds once the server ends its session. The one that wakes overwrites nothing.
import { setTimeout as delay } from 'node:timers/promises';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';

/** Milliseconds that the first one is held: shortly, and for longer than the server lets a transaction idle (30 s). */
const SHORTLY = 3_000;
const LONG = 32_000;

export async function holdOneOfTwo(theatre: Theatre, options: { long: boolean }, tally: Tally): Promise<void> {
  const first = theatre.service;
  const second = theatre.another();
  await second.start(theatre.ground.environment());
  const { stage } = theatre;
  const firstUrl = stage.url;
  try {
    first.setTrap({ point: 'locked-and-loaded', passing: 20, signal: 'SIGSTOP' });
    stage.gate.open();
    await first.untilHeld();
    tally.fault();
    const before = stage.ledger.remembered.length;
    stage.url = second.url;
    await delay(options.long ? LONG : SHORTLY);
    const meanwhile = stage.ledger.remembered.length - before;
    tally.expect(meanwhile > 0, 'the other service accepted nothing while the first was held');
    first.signal('SIGCONT');
    await delay(500);
    await theatre.examine(tally, { whole: true });
    console.log(`  postgres, one of two held: ${meanwhile} Commands accepted by the other one meanwhile`);
    tally.expect(first.isRunning && second.isRunning, 'a service did not survive');
  } finally {
    await stage.gate.close();
    await second.kill();
    stage.url = firstUrl;
  }
}
