// A disk that is small enough to be filled: a file system in memory where this process may mount one.
import { execFile } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SIZE = '96m';
const PORTION = Buffer.alloc(64 * 1_024);

export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Undefined where mounting is not allowed. */
  static async mount(): Promise<SmallDisk | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'mwp-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'tmpfs', folder]);
      return new SmallDisk(folder);
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
  }

  /** To the last byte. */
  fill(): void {
    const file = openSync(this.ballast, 'a');
    try {
      for (let portion = PORTION; portion.length > 0;) {
        try {
          writeSync(file, portion);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          portion = portion.subarray(0, portion.length >> 1);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  makeRoom(): void {
    rmSync(this.ballast, { force: true });
  }

  /** A folder for a tablespace; the server runs as a user of its own when it is started by root. */
  async folderOf(user: string): Promise<string> {
    const folder = join(this.folder, 'space');
    mkdirSync(folder);
    await run('chown', [user, folder]);
    return folder;
  }

  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get ballast(): string {
    return join(this.folder, 'ballast');
  }
}

export function canLimitFiles(): Promise<boolean> {
  return run('prlimit', ['--version']).then(
    () => true,
    () => false,
  );
}

/** No file of that process may grow: what is left where nothing can be mounted. Sockets do not mind. */
export async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
}
