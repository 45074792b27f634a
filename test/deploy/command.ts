// `mwp` as a process of its own, from its sources, with no environment but what is given.
import { execFile } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
/** Milliseconds; a command that hangs fails its test. */
const PATIENCE = 60_000;

export interface Ended {
  code: number | string | null;
  stdout: string;
  stderr: string;
}

export function mwp(args: string[], environment: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', MAIN, ...args],
      { env, timeout: PATIENCE },
      (error, stdout, stderr) => resolve({ code: error ? (error.code ?? null) : 0, stdout, stderr }),
    );
  });
}
