// Who may have a signature checked next (design section 6): turn by turn over the tenants, before any cryptography, so that
// one tenant's rush, bad signatures included, leaves the next turn to another.
import { FairQueue } from '../store/fair-queue.ts';
import type { QueueObserver } from '../store/observer.ts';

export interface Turns {
  /** Rejects with StoreFault `unavailable` when too many wait already. */
  run<Result>(turn: { lane: string }, job: () => Promise<Result>): Promise<Result>;
}

/** Commands and logins in hand at once: enough to keep the thread pool and the database busy, and no more. */
const IN_HAND_MAXIMUM = 64;

export function fairTurns(observer: QueueObserver): Turns {
  return new FairQueue({ capacity: IN_HAND_MAXIMUM, watched: { as: 'turns', by: observer } });
}
