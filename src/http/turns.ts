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

/** Of one tenant while another is there: what is in hand shares the thread pool and the main thread with who comes next. */
export const IN_HAND_OF_ONE_MAXIMUM = 8;

export function fairTurns(observer: QueueObserver): Turns {
  const watched = { as: 'turns', by: observer } as const;
  return new FairQueue({ capacity: IN_HAND_MAXIMUM, perLaneBeside: IN_HAND_OF_ONE_MAXIMUM, watched });
}
