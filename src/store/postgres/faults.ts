// What PostgreSQL says when it says no, as one of our four faults, and the closed list of what is run again.
import postgres from 'postgres';
import type { StoreFaultKind } from '../port.ts';
import { StoreFault } from '../port.ts';

/** Serialization failure, deadlock, lock not available in time, and our own "created meanwhile in another tree". */
const AGAIN = new Set(['40001', '40P01', '55P03', 'MW005']);

/** Two Groups, one receipt or admission key: no lock orders them, so the second runs again and finds the first's row. */
const APPENDED_ONCE = new Set(['receipts_pkey', 'admissions_pkey', 'commands_pkey']);

/** By class, the first two characters of the SQLSTATE, or by the whole of it. */
const KINDS: Record<string, StoreFaultKind> = {
  '08': 'unavailable', // connection
  '53': 'unavailable', // out of connections, disk or memory
  '57': 'unavailable', // shutting down, starting up
  '58': 'unavailable', // system error
  '25P03': 'unavailable', // idle in transaction for too long: the session was ended
  '57014': 'busy', // statement timeout
  '40': 'busy',
  '55': 'busy',
  MW005: 'busy',
  '23': 'conflict',
  MW001: 'conflict', // compare-and-set
  MW002: 'conflict', // immutable
  MW003: 'conflict', // gap in a sequence
  MW004: 'unavailable', // the transaction is gone
  '25P01': 'unavailable',
};

export type Again = 'lost_race' | 'appended_once';

export function worthAnotherRun(error: unknown): Again | undefined {
  const cause = error instanceof StoreFault ? error.cause : error;
  if (!(cause instanceof postgres.PostgresError)) return undefined;
  if (AGAIN.has(cause.code)) return 'lost_race';
  return cause.code === '23505' && APPENDED_ONCE.has(cause.constraint_name ?? '') ? 'appended_once' : undefined;
}

export function faultOf(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreFault(kindOf(error), message, { cause: error });
}

function kindOf(error: unknown): StoreFaultKind {
  // Whatever the server did not say is about the way to it: refused, reset, closed, timed out.
  if (!(error instanceof postgres.PostgresError)) return 'unavailable';
  return KINDS[error.code] ?? KINDS[error.code.slice(0, 2)] ?? 'corrupt';
}
