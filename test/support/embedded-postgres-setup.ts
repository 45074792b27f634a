// Vitest global setup: hands out databases. One PostgreSQL per test run, started when the first test asks for it, so that
// suites without a database do not pay for it; each request gets a clone of a migrated template, dropped when the
// requester hangs up. With TEST_DATABASE_URL (a role that may create databases) that server is used instead.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Loopback port; a connection is answered with one line: the JSON of `Lease`. */
    databasesPort: number;
    /** A migrated SQLite file, to be copied. Workers are ended without notice, so what they make would stay. */
    sqliteTemplate: string;
  }
}

/** A test that provokes a deadlock need not wait a second for it to be noticed. */
const QUICK = { deadlock_timeout: '100ms' };

export type Lease = { url: string } | { error: string };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let databases: Promise<Databases> | undefined;
  const server = createServer((socket) => {
    databases ??= openDatabases();
    void lease(socket, databases);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'mwp-test-template-'));
  const sqliteTemplate = join(folder, 'template.db');
  await migrateSqlite(sqliteTemplate);
  project.provide('sqliteTemplate', sqliteTemplate);
  project.provide('databasesPort', (server.address() as AddressInfo).port);
  return async () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
    await databases?.then(
      (open) => open.close(),
      () => undefined,
    );
  };
}

async function lease(socket: Socket, opening: Promise<Databases>): Promise<void> {
  const answer = (line: Lease) => socket.write(`${JSON.stringify(line)}\n`);
  socket.on('error', () => undefined);
  try {
    const databases = await opening;
    const name = await databases.create();
    socket.once('close', () => void databases.drop(name).catch(() => undefined));
    if (socket.destroyed) await databases.drop(name);
    else answer({ url: urlOf(databases.url, name) });
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error) });
  }
}

interface Databases {
  url: string;
  create(): Promise<string>;
  drop(name: string): Promise<void>;
  close(): Promise<void>;
}

async function openDatabases(): Promise<Databases> {
  const given = process.env['TEST_DATABASE_URL'];
  const embedded = given === undefined ? await startEmbeddedPostgres({ settings: QUICK }) : undefined;
  const url = given ?? embedded?.url ?? '';
  const sql = postgres(url, { max: 2, onnotice: () => undefined });
  const prefix = `mwp_test_${randomBytes(4).toString('hex')}`;
  const left = new Set<string>();
  const create = async (name: string, template: string) => {
    await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    left.add(name);
    return name;
  };
  const drop = async (name: string) => {
    if (left.delete(name)) await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  const template = await create(`${prefix}_template`, 'template0');
  await migratePostgres(urlOf(url, template));
  let created = 0;
  return {
    url,
    create: () => create(`${prefix}_${(created += 1)}`, template),
    drop,
    close: async () => {
      // An embedded server is thrown away whole.
      if (embedded === undefined) for (const name of [...left]) await drop(name);
      await sql.end({ timeout: 5 });
      await embedded?.stop();
    },
  };
}

function urlOf(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}
