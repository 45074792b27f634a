// A whole copy of a SQLite file as it is at one moment, while a service writes to it. Knows nothing of what is in it.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { StoreFault } from '../port.ts';
import { faultOf } from './faults.ts';

/** For the owner alone, like the file itself: it holds the tenants' messages. */
const FILE_MODE = 0o600;

/**
 * Answers the bytes written. `target` appears whole, checked and on the disk, or not at all; an existing file is left as it
 * is. Throws StoreFault.
 */
export function backUpSqlite(file: string, target: string): number {
  if (existsSync(target)) throw new StoreFault('conflict', `${target} exists already`);
  const draft = `${target}.partial`;
  try {
    rmSync(draft, { force: true });
    // SQLite fills an empty file, and would make one that others can read.
    closeSync(openSync(draft, 'wx', FILE_MODE));
    copyInto(file, draft);
    check(draft);
    sync(draft);
    renameSync(draft, target);
    sync(dirname(target));
    return statSync(target).size;
  } catch (error) {
    rmSync(draft, { force: true });
    throw faultOf(error);
  }
}

/** One reading transaction, so writers go on; what they write meanwhile stays in their log until this is done. */
function copyInto(file: string, draft: string): void {
  const database = new Database(file);
  try {
    database.prepare('VACUUM INTO ?').run([draft]);
  } finally {
    database.close();
  }
}

function check(draft: string): void {
  const database = new Database(draft, { readonly: true });
  try {
    const answer = JSON.stringify(database.prepare('PRAGMA integrity_check').all([]));
    if (answer !== '[{"integrity_check":"ok"}]') throw new StoreFault('corrupt', `the copy is not whole: ${answer}`);
  } finally {
    database.close();
  }
}

function sync(path: string): void {
  const opened = openSync(path, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
