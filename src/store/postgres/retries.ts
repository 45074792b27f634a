// Runs a transaction again when PostgreSQL broke it to resolve a race: bounded in number and in time.
import { setTimeout as sleep } from 'node:timers/promises';
import { UNOBSERVED, type StoreObserver } from '../observer.ts';
import type { Again } from './faults.ts';
import { worthAnotherRun } from './faults.ts';

/** A second loss in a row is rare, a fifth means that something is wrong. */
const RUNS_MAXIMUM: Record<Again, number> = { lost_race: 5, appended_once: 3 };
/** No run begins later than this after the first one. */
const RUNS_TIME_MAXIMUM_MS = 15_000;
const PAUSE_MS = 5;

export async function withRetries<Result>(
  run: () => Promise<Result>,
  observer: Pick<StoreObserver, 'retried'> = UNOBSERVED,
): Promise<Result> {
  const started = performance.now();
  for (let runs = 1; ; runs += 1) {
    try {
      return await run();
    } catch (error) {
      const again = worthAnotherRun(error);
      if (again === undefined || runs >= RUNS_MAXIMUM[again]) throw error;
      if (performance.now() - started > RUNS_TIME_MAXIMUM_MS) throw error;
      observer.retried(again);
      // Unequal pauses, or two losers meet again.
      await sleep(PAUSE_MS * runs * Math.random());
    }
  }
}
