// `mwp serve` of a built checkout as a process of its own, and the CPU time that it has used.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Place } from './places.ts';

export const OPERATOR_TOKEN = 'bench-operator-token-of-one-run';
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
/** Clock ticks of the kernel's process statistics: 100 a second on every Linux. */
const MILLISECONDS_PER_TICK = 10;

export interface Serving {
  url: string;
  pid: number;
  stop: () => Promise<void>;
}

export interface ServeOptions {
  checkout: string;
  place: Place;
  profile?: string;
}

export async function serve({ checkout, place, profile }: ServeOptions): Promise<Serving> {
  const flags = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
  const child = spawn(process.execPath, [...flags, join(checkout, 'dist/cli/main.js'), 'serve'], {
    cwd: checkout,
    env: {
      ...process.env,
      MWP_PORT: '0',
      MWP_MASTER_KEY: MASTER_KEY,
      MWP_OPERATOR_TOKEN: OPERATOR_TOKEN,
      ...(place.engine === 'sqlite' ? { MWP_DATA_DIR: place.address } : { DATABASE_URL: place.address }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listening(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    url,
    pid: child.pid ?? 0,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`mwp serve ended with ${code}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { level, msg, url } = JSON.parse(line) as { level: number; msg: string; url?: string };
      if (msg === 'serving' && url !== undefined) resolve(url);
      if (level >= 40) console.error(line);
    });
  });
}

/** User and system time of a process, all its threads; 0 where the system does not say. */
export function cpuMilliseconds(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold blanks; utime and stime are the 12th and 13th field after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MILLISECONDS_PER_TICK;
  } catch {
    return 0;
  }
}
