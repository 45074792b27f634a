// The `mwp` command as an operator runs it: a process of its own, beside the service that goes on.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const LONGEST_MILLISECONDS = 60_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `environment`: alone, nothing of this process but where programs are found. */
export function mwp(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ran> {
  const env = { PATH: process.env['PATH'], ...environment };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', MAIN, ...args],
      { env, timeout: LONGEST_MILLISECONDS },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
        resolve({ code, stdout, stderr });
      },
    );
  });
}
