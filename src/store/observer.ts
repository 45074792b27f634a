// What a store tells of its work to whoever watches the service. Plain callbacks beside the port: no library is named
// here, nothing said here holds content, and none of them may throw or take long, for they run on the way of every Command.

import type { AuditEntry } from './port.ts';

/** Where work waits for its turn: `turns` before any cryptography, the others for the database. */
export type QueueName = 'turns' | 'acceptance' | 'working' | 'writing' | 'reading';

export interface QueueFigures {
  active: number;
  waiting: number;
}

export interface QueueObserver {
  /** Once for each queue; `figures` may be asked at any time. */
  queueOpened(queue: QueueName, figures: () => QueueFigures): void;
  /** A turn came, perhaps at once. `asked`: `performance.now()` when it was asked for. */
  turnCame(queue: QueueName, asked: number): void;
  /** Too many waited, or none came in time. */
  turnRefused(queue: QueueName): void;
}

/**
 * `open`: a turn at the database, the locks, the clock and the load; `decide`: what runs under the locks; `commit`: the
 * write and its COMMIT.
 */
export type AcceptancePhase = 'open' | 'decide' | 'commit';

/** What a transaction of a hosted store is for. */
export type TransactionPurpose = 'acceptance' | 'write' | 'read';

export interface RoundTrip {
  /** The texts that travelled, without their parameters. */
  statements: readonly { text: string }[];
  /** `performance.now()` when they were sent. */
  began: number;
  failed: boolean;
}

export interface PoolFigures {
  size: number;
  open: number;
  idle: number;
  waiting: number;
}

export interface StoreObserver extends QueueObserver {
  /** Runs one acceptance; what is told before it ends belongs to it. Passes on whatever comes of `work`. */
  acceptance<Result>(work: () => Promise<Result>): Promise<Result>;
  /** It ends now; `began`: `performance.now()`. */
  phaseEnded(phase: AcceptancePhase, began: number): void;
  /** So many accepted Commands became durable with one commit. */
  transitionsCommitted(count: number): void;
  /** The database broke a transaction to resolve a race, and it runs again. */
  retried(reason: string): void;
  roundTripEnded(trip: RoundTrip): void;
  /** Round trips that somebody waited for; a lone ROLLBACK is none. */
  transactionEnded(purpose: TransactionPurpose, roundTrips: number): void;
  poolOpened(figures: () => PoolFigures): void;
  connectionOpened(): void;
  /** One could not be opened, or broke. */
  connectionLost(): void;
  /** Once for each record, lost ones included. */
  auditRecorded(): void;
  auditLost(): void;
}

/** An audit record could not be written, and whose it was. */
export type OnLostAudit = (cause: unknown, lost: LostAudit) => void;
export type LostAudit = { organizationId: string } & AuditEntry;

const nothing = () => undefined;

/** Nobody watches. */
export const UNOBSERVED: StoreObserver = {
  queueOpened: nothing,
  turnCame: nothing,
  turnRefused: nothing,
  acceptance: (work) => work(),
  phaseEnded: nothing,
  transitionsCommitted: nothing,
  retried: nothing,
  roundTripEnded: nothing,
  transactionEnded: nothing,
  poolOpened: nothing,
  connectionOpened: nothing,
  connectionLost: nothing,
  auditRecorded: nothing,
  auditLost: nothing,
};
