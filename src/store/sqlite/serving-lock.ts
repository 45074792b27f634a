// One service per data folder: a lock that the operating system takes back when the process ends, however it ends. SQLite
// would let two services write by turns, but each believes that it hears of every change.
import { closeSync, openSync } from 'node:fs';
import Database from 'libsql';
import { StoreFault } from '../port.ts';
import { faultOf, isBusy } from './faults.ts';

export interface ServingLock {
  /** Safe to call twice. */
  release: () => void;
}

/** `file` is made where it is missing, holds nothing, and stays. Throws a StoreFault when another process has the lock. */
export function takeServingLock(file: string): ServingLock {
  closeSync(openSync(file, 'a', 0o600));
  const database = open(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw faultOf(error);
    throw new StoreFault('busy', 'another service runs on this data folder (MWP_DATA_DIR)', { cause: error });
  }
  let held = true;
  return {
    release: () => {
      if (!held) return;
      held = false;
      // Closing alone lets go of the file when the statements are collected, which is later.
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function open(file: string): Database.Database {
  try {
    return new Database(file);
  } catch (error) {
    throw faultOf(error);
  }
}
