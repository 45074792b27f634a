// The stores that a suite runs against, each on a fresh migrated database of its own:
// `describe.each(STORES)('$name', ({ open }) => …)`. Nothing is shared between two calls of `open`.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Lease } from './embedded-postgres-setup.ts';
import { sealRegistry } from './sealing.ts';

export interface OpenOptions {
  /** Milliseconds since 1970, to move time; otherwise the engine's own clock. */
  clock?: () => number;
  /** Of a PostgreSQL store. */
  maxConnections?: number;
}

export interface OpenedStore {
  store: AuthorityStore;
  /** A second store object on the same database, as a second process would have. SQLite has one process: throws. */
  another: () => Promise<AuthorityStore>;
  close: () => Promise<void>;
  /** The file, or the URL of a superuser: for a test that looks behind the store. */
  address: string;
}

export interface StoreUnderTest {
  name: 'sqlite' | 'postgres';
  readonly open: (options?: OpenOptions) => Promise<OpenedStore>;
}

export const STORES: StoreUnderTest[] = [
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
];

async function openSqlite({ clock }: OpenOptions = {}): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-test-'));
  const file = join(folder, 'mwp.db');
  copyFileSync(inject('sqliteTemplate'), file);
  const store = await openSqliteStore({ file, sealRegistry, ...(clock && { clock }) });
  return {
    store,
    another: () => Promise.reject(new Error('one process owns a SQLite file')),
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
    address: file,
  };
}

async function openPostgres({ clock, maxConnections }: OpenOptions = {}): Promise<OpenedStore> {
  const { url, giveBack } = await leaseDatabase();
  const stores: AuthorityStore[] = [];
  const another = async () => {
    const store = await openPostgresStore({
      url,
      sealRegistry,
      ...(clock && { clock }),
      ...(maxConnections && { maxConnections }),
    });
    stores.push(store);
    return store;
  };
  return {
    store: await another(),
    another,
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      giveBack();
    },
    address: url,
  };
}

/** A clone of the migrated template; it lives as long as the connection to who made it. */
export function leaseDatabase(): Promise<{ url: string; giveBack: () => void }> {
  return new Promise((resolve, reject) => {
    const connection = createConnection({ port: inject('databasesPort'), host: '127.0.0.1' });
    let line = '';
    connection.once('error', reject);
    connection.on('data', (chunk) => {
      line += chunk.toString();
      if (!line.endsWith('\n')) return;
      const lease = JSON.parse(line) as Lease;
      if ('error' in lease) reject(new Error(lease.error));
      else resolve({ url: lease.url, giveBack: () => connection.destroy() });
    });
  });
}
