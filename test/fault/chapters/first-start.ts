// The very first start is killed, in the middle of migrations and of making the master key. The next one must work.
import { setTimeout as delay } from 'node:timers/promises';
import type { Ground } from '../ground.ts';
import type { Chance } from '../random.ts';
import type { Tally } from '../report.ts';
import { Services } from '../service.ts';

/** Milliseconds; a first start takes about as long on a quiet machine. */
const START_MAXIMUM = 300;

export async function killFirstStart(ground: Ground, kills: number, chance: Chance, tally: Tally): Promise<void> {
  const services = new Services();
  const environment = ground.environment();
  // A local start makes a key of its own, once.
  if (ground.engine === 'sqlite') delete environment['MWP_MASTER_KEY'];
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const service = services.next();
      await service.begin(environment);
      await delay(chance.whole(0, START_MAXIMUM));
      await service.kill();
      tally.fault();
    }
    const service = services.next();
    await service.start(environment);
    const ready = await fetch(`${service.url}/readyz`);
    tally.expect(ready.status === 200, `not ready: ${await ready.text()}`);
    await service.kill();
  } catch (error) {
    tally.violation((error as Error).message);
  } finally {
    await services.close();
  }
}
