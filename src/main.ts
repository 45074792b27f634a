// Composition: the only file that knows every part. `startService` is the whole service in one call, for `mwp serve`,
// for tests and for the demo.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from './authority/authority.ts';
import { ConfigFault, type Config, type StorageConfig } from './config.ts';
import { createApp } from './http/app.ts';
import { listen } from './http/listen.ts';
import { KeyVault } from './platform/key-vault.ts';
import { Lifecycle } from './platform/lifecycle.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { localMasterKey } from './platform/master-key.ts';
import { VaultSigners } from './platform/tenant-signers.ts';
import { StoreFault, type AuthorityStore } from './store/port.ts';
import { migratePostgres } from './store/postgres/migrate.ts';
import { openPostgresStore } from './store/postgres/open.ts';
import { backUpSqlite } from './store/sqlite/backup.ts';
import { migrateSqlite } from './store/sqlite/migrate.ts';
import { openSqliteStore } from './store/sqlite/open.ts';
import { takeServingLock, type ServingLock } from './store/sqlite/serving-lock.ts';

const SQLITE_FILE = 'mwp.db';
const SERVING_LOCK_FILE = 'serving.lock';

export interface StartOptions {
  logger?: Logger;
  /** Milliseconds since 1970, instead of the clocks of host and database: for tests that move time. */
  clock?: () => number;
}

export interface Composed {
  store: AuthorityStore;
  /** The HTTP application; answers requests without a network, too. */
  app: ReturnType<typeof createApp>;
  logger: Logger;
  lifecycle: Lifecycle;
}

export interface RunningService {
  /** `http://host:port`, the port that was really bound. */
  url: string;
  store: AuthorityStore;
  /** Stops accepting, drains within a bound, closes the database. Safe to call twice; never rejects. */
  stop: () => Promise<void>;
}

/** Everything but the network. The database is migrated and the master key proven before this resolves. */
export async function composeService(config: Config, { logger: given, clock }: StartOptions = {}): Promise<Composed> {
  const logger = given ?? createLogger(config.logLevel);
  const lifecycle = new Lifecycle({ report: (message, err) => logger.warn({ err }, message) });
  const masterKey = config.masterKey ?? localMasterKey(usableDirectory(config));
  const store = await openStore(config, logger, clock);
  lifecycle.started({ name: 'the store', stop: () => store.close() });
  try {
    const vault = new KeyVault(masterKey);
    const signers = new VaultSigners(store.organizations, vault);
    await proveMasterKey(store, signers);
    const alarm = (message: string, err?: unknown) => logger.error({ err }, message);
    const authority = createAuthority({ store, signers, alarm });
    const app = createApp({
      store,
      authority,
      signers,
      vault,
      logger,
      isStopping: () => lifecycle.isStopping,
      ...(config.operatorToken !== undefined && { operatorToken: config.operatorToken }),
      ...(clock && { clock }),
    });
    return { store, app, logger, lifecycle };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** Composes and listens. Rejects with what stands in the way; nothing is left running then. */
export async function startService(config: Config, options: StartOptions = {}): Promise<RunningService> {
  const lock = servingLock(config);
  try {
    const { stop, ...service } = await composeAndListen(config, options);
    return { ...service, stop: () => stop().then(() => lock?.release()) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function composeAndListen(config: Config, options: StartOptions): Promise<RunningService> {
  const { store, app, logger, lifecycle } = await composeService(config, options);
  try {
    const server = await listen(app.fetch, config);
    lifecycle.started({ name: 'the HTTP server', stop: () => server.close() });
    logger.info({ url: server.url, database: config.database.engine }, 'serving');
    return { url: server.url, store, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** Brings the database to the shipped schema, as its owner, and proves nothing else. */
export async function migrateDatabase(config: StorageConfig): Promise<void> {
  const { database } = config;
  if (database.engine === 'sqlite') return migrateSqlite(sqliteFile(config));
  await migratePostgres(database.url).catch((error: unknown) => explainDatabase(config, error));
}

function sqliteFile(config: StorageConfig): string {
  const file = join(usableDirectory(config), SQLITE_FILE);
  // The folder may be older than us and open to others; SQLite gives its side files the mode of this one.
  closeSync(openSync(file, 'a', 0o600));
  return file;
}

/** Of the service alone: `mwp org create`, `mwp verify` and `mwp backup` may use the file beside it. */
function servingLock(config: Config): ServingLock | undefined {
  if (config.database.engine !== 'sqlite') return undefined;
  return takeServingLock(join(usableDirectory(config), SERVING_LOCK_FILE));
}

function usableDirectory({ dataDirectory }: StorageConfig): string {
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    accessSync(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK);
    return dataDirectory;
  } catch (error) {
    throw new ConfigFault('MWP_DATA_DIR', `cannot be used: ${(error as Error).message}`);
  }
}

/** The driver's words name no variable, and hold no password. */
function explainDatabase({ database }: StorageConfig, error: unknown): never {
  if (database.engine !== 'postgres' || !(error instanceof StoreFault)) throw error;
  const fault = new ConfigFault('DATABASE_URL', `leads to no usable database: ${error.message}`);
  fault.cause = error;
  throw fault;
}

/** The database alone, as it is: for commands that only read. */
export async function openConfiguredStore(config: StorageConfig): Promise<AuthorityStore> {
  if (config.database.engine === 'sqlite') existingSqliteFile(config);
  return openStoreWith(config, {});
}

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

function openStore(config: Config, logger: Logger, clock: (() => number) | undefined): Promise<AuthorityStore> {
  return openStoreWith(config, {
    migrate: true,
    onLostAudit: (err: unknown) => logger.error({ err }, 'an audit record was lost'),
    ...(clock && { clock }),
  });
}

async function openStoreWith(
  config: StorageConfig,
  shared: { migrate?: boolean; onLostAudit?: (error: unknown) => void; clock?: () => number },
): Promise<AuthorityStore> {
  const { database } = config;
  if (database.engine === 'sqlite') return openSqliteStore({ ...shared, file: sqliteFile(config) });
  const opening = openPostgresStore({ ...shared, url: database.url, maxConnections: database.poolSize });
  return opening.catch((error: unknown) => explainDatabase(config, error));
}

/** One look at start, so that a wrong key is told at once and not by every Command. */
async function proveMasterKey(store: AuthorityStore, signers: VaultSigners): Promise<void> {
  const [first] = await store.organizations.all('', 1);
  if (!first) return;
  try {
    await signers.signerOf(first, first.authority);
  } catch (cause) {
    const fault = new ConfigFault('MWP_MASTER_KEY', 'is not the key that this database was sealed under');
    fault.cause = cause;
    throw fault;
  }
}
