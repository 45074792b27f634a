// Where everything lies: the configured database and the blobs, in files beside it or inside it, opened or explained by the
// variable that leads there. Part of the composition, of the service and of each command.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigFault, type StorageConfig } from './config.ts';
import { withSealedBodies } from './archive/segments/opened.ts';
import { openBlobFiles } from './store/files/blobs.ts';
import type { OnLostAudit, StoreObserver } from './store/observer.ts';
import { StoreFault, type AuthorityStore, type PassPoint, type SealRegistry } from './store/port.ts';
import { BlobFault, type BlobSpace, type BlobStore } from './store/port/blobs.ts';
import { migratePostgres } from './store/postgres/migrate.ts';
import { openPostgresStore } from './store/postgres/open.ts';
import { backUpSqlite } from './store/sqlite/backup.ts';
import { migrateSqlite } from './store/sqlite/migrate.ts';
import { openSqliteStore } from './store/sqlite/open.ts';

const SQLITE_FILE = 'mwp.db';

/** Brings the database to the shipped schema, as its owner, and proves nothing else. */
export async function migrateDatabase(config: StorageConfig): Promise<void> {
  const { database } = config;
  const migrating = database.engine === 'sqlite' ? migrateSqlite(sqliteFile(config)) : migratePostgres(database.url);
  await migrating.catch((error: unknown) => explainDatabase(config, error));
}

/**
 * Each in a place of its own: members put contents, and could otherwise name what a snapshot or a segment is made of, or have
 * it swept away. Rejects with ConfigFault.
 */
export async function openBlobs(
  { blobs }: StorageConfig,
  store: AuthorityStore,
): Promise<Record<BlobSpace, BlobStore>> {
  const open = (space: BlobSpace) =>
    blobs.kept === 'database' ? store.blobs(space) : openBlobFiles(join(blobs.directory, space));
  try {
    return {
      contents: await open('contents'),
      snapshots: await open('snapshots'),
      segments: await open('segments'),
      audits: await open('audits'),
    };
  } catch (error) {
    if (!(error instanceof BlobFault)) throw error;
    const where = blobs.kept === 'files' ? `(${blobs.directory}) ` : '';
    const fault = new ConfigFault('MWP_BLOBS_DIR', `${where}cannot be used: ${error.message}`);
    fault.cause = error;
    throw fault;
  }
}

/** For a command that only reads. A copied database may have come without its files; looking makes no folder. */
export async function existingBlobs(
  config: StorageConfig,
  store: AuthorityStore,
): Promise<Record<BlobSpace, BlobStore> | undefined> {
  const { blobs } = config;
  if (blobs.kept === 'files' && !existsSync(blobs.directory)) return undefined;
  return openBlobs(config, store);
}

/** The database as it is, with what was sealed: for commands that only read. */
export async function openConfiguredStore(config: StorageConfig): Promise<AuthorityStore> {
  if (config.database.engine === 'sqlite') existingSqliteFile(config);
  const store = await openStoreWith(config, {});
  const blobs = await existingBlobs(config, store);
  return withSealedBodies(store, blobs?.segments ?? NO_SEGMENTS, { again: false });
}

/** What was sealed is then found missing where it is asked for. */
const NO_SEGMENTS = { get: () => Promise.resolve(undefined) };

/** Answers the bytes written to `target`, a file that must not exist. */
export function backUpLocalDatabase(config: StorageConfig, target: string): number {
  return backUpSqlite(existingSqliteFile(config), target);
}

/** Who only reads must not find an empty database that was made for the occasion. */
function existingSqliteFile({ dataDirectory }: StorageConfig): string {
  const file = join(dataDirectory, SQLITE_FILE);
  if (!existsSync(file)) throw new ConfigFault('MWP_DATA_DIR', `holds no database: there is no ${file}`);
  return file;
}

/** What a command or the service wants of the store goes on to it. Rejects with ConfigFault. */
export async function openStoreWith(
  config: StorageConfig,
  shared: {
    migrate?: boolean;
    onLostAudit?: OnLostAudit;
    observer?: StoreObserver;
    sealRegistry?: SealRegistry;
    clock?: () => number;
    pass?: PassPoint;
  },
): Promise<AuthorityStore> {
  const { database } = config;
  const opening =
    database.engine === 'sqlite'
      ? openSqliteStore({ ...shared, file: sqliteFile(config) })
      : openPostgresStore({ ...shared, url: database.url, maxConnections: database.poolSize });
  return opening.catch((error: unknown) => explainDatabase(config, error));
}

/** Made if need be. Throws ConfigFault. */
export function usableDirectory({ dataDirectory }: StorageConfig): string {
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    accessSync(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK);
    return dataDirectory;
  } catch (error) {
    throw new ConfigFault('MWP_DATA_DIR', `cannot be used: ${(error as Error).message}`);
  }
}

function sqliteFile(config: StorageConfig): string {
  const file = join(usableDirectory(config), SQLITE_FILE);
  try {
    // The folder may be older than us and open to others; SQLite gives its side files the mode of this one.
    closeSync(openSync(file, 'a', 0o600));
    return file;
  } catch (error) {
    throw new ConfigFault('MWP_DATA_DIR', `holds no usable database: ${(error as Error).message}`);
  }
}

/** The driver's words name no variable, and hold no password. */
function explainDatabase({ database }: StorageConfig, error: unknown): never {
  if (!(error instanceof StoreFault)) throw error;
  const fault =
    database.engine === 'postgres'
      ? new ConfigFault('DATABASE_URL', `leads to no usable database: ${error.message}`)
      : new ConfigFault('MWP_DATA_DIR', `holds no usable database: ${error.message}`);
  fault.cause = error;
  throw fault;
}
