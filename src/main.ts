// Composition: the only file that knows every part. `startService` is the whole service in one call, for `mwp serve`,
// for tests and for the demo.
import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from './authority/authority.ts';
import { ConfigFault, type Config } from './config.ts';
import { createApp } from './http/app.ts';
import { listen } from './http/listen.ts';
import { KeyVault } from './platform/key-vault.ts';
import { Lifecycle } from './platform/lifecycle.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { localMasterKey, MasterKeyFault } from './platform/master-key.ts';
import { VaultSigners } from './platform/tenant-signers.ts';
import { StoreFault, type AuthorityStore } from './store/port.ts';
import { migratePostgres } from './store/postgres/migrate.ts';
import { openPostgresStore } from './store/postgres/open.ts';
import { migrateSqlite } from './store/sqlite/migrate.ts';
import { openSqliteStore } from './store/sqlite/open.ts';

const SQLITE_FILE = 'mwp.db';

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
  const masterKey = config.masterKey ?? keptMasterKey(config);
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
export async function migrateDatabase(config: Config): Promise<void> {
  const { database } = config;
  const migrating = database.engine === 'sqlite' ? migrateSqlite(sqliteFile(config)) : migratePostgres(database.url);
  await migrating.catch((error: unknown) => explainDatabase(config, error));
}

function keptMasterKey(config: Config): Uint8Array {
  const folder = usableDirectory(config);
  try {
    return localMasterKey(folder);
  } catch (error) {
    if (error instanceof MasterKeyFault) throw error;
    throw new ConfigFault('MWP_DATA_DIR', `holds no usable master key: ${(error as Error).message}`);
  }
}

function sqliteFile(config: Config): string {
  const file = join(usableDirectory(config), SQLITE_FILE);
  try {
    // The folder may be older than us and open to others; SQLite gives its side files the mode of this one.
    closeSync(openSync(file, 'a', 0o600));
    return file;
  } catch (error) {
    throw new ConfigFault('MWP_DATA_DIR', `holds no usable database: ${(error as Error).message}`);
  }
}

function usableDirectory({ dataDirectory }: Config): string {
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    accessSync(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK);
    return dataDirectory;
  } catch (error) {
    throw new ConfigFault('MWP_DATA_DIR', `cannot be used: ${(error as Error).message}`);
  }
}

/** The driver's words name no variable, and hold no password. */
function explainDatabase({ database }: Config, error: unknown): never {
  if (!(error instanceof StoreFault)) throw error;
  const fault =
    database.engine === 'postgres'
      ? new ConfigFault('DATABASE_URL', `leads to no usable database: ${error.message}`)
      : new ConfigFault('MWP_DATA_DIR', `holds no usable database: ${error.message}`);
  fault.cause = error;
  throw fault;
}

/** The database alone, as it is: for commands that only read. */
export function openConfiguredStore(config: Config): Promise<AuthorityStore> {
  return openStoreWith(config, {});
}

function openStore(config: Config, logger: Logger, clock: (() => number) | undefined): Promise<AuthorityStore> {
  return openStoreWith(config, {
    migrate: true,
    onLostAudit: (err: unknown) => logger.error({ err }, 'an audit record was lost'),
    ...(clock && { clock }),
  });
}

async function openStoreWith(
  config: Config,
  shared: { migrate?: boolean; onLostAudit?: (error: unknown) => void; clock?: () => number },
): Promise<AuthorityStore> {
  const { database } = config;
  const opening =
    database.engine === 'sqlite'
      ? openSqliteStore({ ...shared, file: sqliteFile(config) })
      : openPostgresStore({ ...shared, url: database.url, maxConnections: database.poolSize });
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
