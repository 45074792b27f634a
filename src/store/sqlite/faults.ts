// What SQLite says when it says no, as one of our four faults. The list of what may be tried again is closed.
import { StoreFault } from '../port.ts';

const BUSY = ['SQLITE_BUSY', 'SQLITE_LOCKED'];
const CONFLICT = ['SQLITE_CONSTRAINT'];
const UNAVAILABLE = [
  'SQLITE_IOERR',
  'SQLITE_FULL',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
  'SQLITE_NOMEM',
  'SQLITE_PERM',
];

/** Another process holds the write lock: worth another try. */
export function isBusy(error: unknown): boolean {
  return startsWithOne(codeOf(error), BUSY);
}

export function faultOf(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (startsWithOne(code, BUSY)) return new StoreFault('busy', message, { cause: error });
  if (startsWithOne(code, CONFLICT)) return new StoreFault('conflict', message, { cause: error });
  if (startsWithOne(code, UNAVAILABLE)) return new StoreFault('unavailable', message, { cause: error });
  if (/connection is not open/.test(message)) return new StoreFault('unavailable', message, { cause: error });
  return new StoreFault('corrupt', message, { cause: error });
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

function startsWithOne(code: string, prefixes: string[]): boolean {
  return prefixes.some((prefix) => code === prefix || code.startsWith(`${prefix}_`));
}
