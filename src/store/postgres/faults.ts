// What PostgreSQL says when it says no, as one of our four faults, and the closed list of what is run again.
// The driver's errors carry statements, parameters and rows; none of it goes on from here, because faults are logged.
import postgres from 'postgres';
import type { StoreFaultKind } from '../port.ts';
import { StoreFault } from '../port.ts';

/** What remains of an error of the server. */
export class ServerRefusal extends Error {
  /** SQLSTATE. */
  readonly code: string;
  readonly constraint: string | undefined;
  constructor({ code, constraint_name, table_name }: postgres.PostgresError) {
    super([`SQLSTATE ${code}`, table_name, constraint_name].filter(Boolean).join(' '));
    this.name = 'ServerRefusal';
    this.code = code;
    this.constraint = constraint_name;
  }
}

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

/** Values of a row could stand in the messages of these: bad input, JSON that does not parse. */
const TELLTALE_CLASS = '22';

export type Again = 'lost_race' | 'appended_once';

export function worthAnotherRun(error: unknown): Again | undefined {
  const refusal = refusalOf(error);
  if (refusal === undefined) return undefined;
  if (AGAIN.has(refusal.code)) return 'lost_race';
  return refusal.code === '23505' && APPENDED_ONCE.has(refusal.constraint ?? '') ? 'appended_once' : undefined;
}

/** What the server said, if this fault comes from it. */
export function refusalOf(error: unknown): ServerRefusal | undefined {
  return error instanceof StoreFault && error.cause instanceof ServerRefusal ? error.cause : undefined;
}

export function faultOf(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  if (error instanceof postgres.PostgresError) {
    const refusal = new ServerRefusal(error);
    const message = error.code.startsWith(TELLTALE_CLASS) ? refusal.message : error.message;
    return new StoreFault(kindOf(error.code), message, { cause: refusal });
  }
  // Whatever the server did not say is about the way to it: refused, reset, closed, timed out.
  const { message, code } = error as { message?: string; code?: string };
  return new StoreFault('unavailable', message ?? String(error), { cause: new Error(code ?? 'no code') });
}

function kindOf(code: string): StoreFaultKind {
  return KINDS[code] ?? KINDS[code.slice(0, 2)] ?? 'corrupt';
}
