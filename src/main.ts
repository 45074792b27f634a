// Composition: the only file that knows every part. `startService` is the whole service in one call, for `mwp serve`,
// for tests and for the demo.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditSeals } from './archive/audit/ports.ts';
import { createAuditSeals } from './archive/audit/seals.ts';
import { createSnapshots } from './archive/snapshot/take.ts';
import { createAuthority, type AuthorityOptions } from './authority/authority.ts';
import type { Alarm } from './authority/seen.ts';
import { groupArchive } from './domain/commands/group-archive.ts';
import { ConfigFault, type Config, type StorageConfig } from './config.ts';
import { createApp } from './http/app.ts';
import { metricsApp } from './http/metrics.ts';
import { Readiness } from './http/readiness.ts';
import { listen, type Listening } from './http/listen.ts';
import { KeyVault } from './platform/key-vault.ts';
import { Lifecycle } from './platform/lifecycle.ts';
import { observe } from './platform/observe.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { localMasterKey, MasterKeyFault } from './platform/master-key.ts';
import { registrySeal } from './platform/registry-seal.ts';
import { VaultSigners } from './platform/tenant-signers.ts';
import { openBlobFiles } from './store/files/blobs.ts';
import type { OnLostAudit, StoreObserver } from './store/observer.ts';
import { StoreFault, type AuthorityStore, type PassPoint, type SealRegistry } from './store/port.ts';
import { BlobFault, type BlobStore } from './store/port/blobs.ts';
import { migratePostgres } from './store/postgres/migrate.ts';
import { openPostgresStore } from './store/postgres/open.ts';
import { backUpSqlite } from './store/sqlite/backup.ts';
import { migrateSqlite } from './store/sqlite/migrate.ts';
import { openSqliteStore } from './store/sqlite/open.ts';
import { takeServingLock, type ServingLock } from './store/sqlite/serving-lock.ts';

const SQLITE_FILE = 'mwp.db';
/** Milliseconds; a timer is never early and sometimes late. */
const DRAIN_DELAY_SLACK = 1_000;
const SERVING_LOCK_FILE = 'serving.lock';

export interface StartOptions {
  logger?: Logger;
  /** Milliseconds since 1970, instead of the clocks of host and database: for tests that move time. */
  clock?: () => number;
  /** Told of each passing of a named point: for tests that end the process there. */
  pass?: PassPoint;
}

export interface Composed {
  store: AuthorityStore;
  /** The HTTP application; answers requests without a network, too. */
  app: ReturnType<typeof createApp>;
  logger: Logger;
  lifecycle: Lifecycle;
  /** What Prometheus reads. */
  metricsText: () => Promise<string>;
}

export interface RunningService {
  /** `http://host:port`, the port that was really bound. */
  url: string;
  /** Where metrics are read, if they have a listener of their own. */
  metricsUrl?: string;
  store: AuthorityStore;
  /** Stops accepting, drains within a bound, closes the database. Safe to call twice; never rejects. */
  stop: () => Promise<void>;
}

/** Everything but the network. The database is migrated and the master key proven before this resolves. */
export async function composeService(
  config: Config,
  { logger: given, ...options }: StartOptions = {},
): Promise<Composed> {
  const logger = given ?? createLogger(config.logLevel);
  const lifecycle = new Lifecycle({ report: (message, err) => logger.warn({ err }, message) });
  const masterKey = config.masterKey ?? keptMasterKey(config);
  const observation = await observe({ database: config.database.engine, tracing: config.tracing }, logger, lifecycle);
  const vault = new KeyVault(masterKey);
  const { seal: sealRegistry, check: checkSeal } = registrySeal(vault);
  const store = await openStore(config, logger, observation, { ...options, sealRegistry });
  lifecycle.started({ name: 'the store', stop: () => store.close() });
  try {
    const signers = new VaultSigners(store.organizations, vault);
    await proveMasterKey(store, signers);
    const { contents: blobs, snapshots: snapshotBlobs, audits: auditBlobs } = await openBlobs(config);
    const alarm: Alarm = (message, err, about) => logger.error({ ...about, err }, message);
    const snapshots = createSnapshots({ store, blobs: snapshotBlobs, signers });
    lifecycle.started({ name: 'the snapshot under way', stop: () => snapshots.stop() });
    const failed = (tenant: string, error: unknown) => alarm('an audit could not be sealed', error, { tenant });
    const audits = createAuditSeals({ store, blobs: auditBlobs, vault, failed, ...options });
    lifecycle.started({ name: 'the audit that is being sealed', stop: () => audits.stop() });
    const accepted = sealAfterArchival(audits);
    const shared = { store, signers, alarm, checkSeal, accepted };
    const authority = createAuthority({ ...shared, observer: observation, ...options });
    audits.wakeAll();
    const metricsText = () => observation.metrics.text();
    const keys = () => keyProblems(store, signers);
    const readiness = new Readiness({ database: () => store.problems(), keys });
    const app = createApp({
      store,
      blobs,
      snapshotBlobs,
      auditBlobs,
      contentBytesMaximum: config.contentBytesMaximum,
      authority,
      signers,
      vault,
      logger,
      isStopping: () => lifecycle.isStopping,
      observer: observation,
      metricsText,
      readiness,
      snapshots,
      ...(config.operatorToken !== undefined && { operatorToken: config.operatorToken }),
      ...options,
    });
    return { store, app, logger, lifecycle, metricsText };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** What archival leaves to do, after its answer. A repeated Command may find it undone, too. */
function sealAfterArchival(audits: AuditSeals): AuthorityOptions['accepted'] {
  return ({ organizationId }, { kind }) => {
    if (kind === groupArchive.kind) audits.wake(organizationId);
  };
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
  const { store, app, logger, lifecycle, metricsText } = await composeService(config, options);
  try {
    const metrics = config.metrics && (await listenForMetrics(config.metrics, metricsText));
    if (metrics) lifecycle.started({ name: 'the metrics listener', stop: () => metrics.close() });
    const server = await listen(app.fetch, config);
    lifecycle.started({ name: 'the HTTP server', stop: () => server.close() });
    delayTheStop(config, lifecycle);
    const metricsUrl = metrics && { metricsUrl: metrics.url };
    logger.info({ url: server.url, ...metricsUrl, database: config.database.engine }, 'serving');
    return { url: server.url, ...metricsUrl, store, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** Not ready at once, but still taking connections, until load balancers have noticed. */
function delayTheStop({ drainDelay }: Config, lifecycle: Lifecycle): void {
  if (drainDelay === 0) return;
  const stop = () => delay(drainDelay);
  lifecycle.started({ name: 'the drain delay', stop, maximum: drainDelay + DRAIN_DELAY_SLACK });
}

async function listenForMetrics(
  where: { host: string; port: number },
  text: () => Promise<string>,
): Promise<Listening> {
  try {
    return await listen(metricsApp(text).fetch, where);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isAddress = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
    const fault = new ConfigFault(isAddress ? 'MWP_METRICS_HOST' : 'MWP_METRICS_PORT', `cannot be used: ${message}`);
    fault.cause = error;
    throw fault;
  }
}

/** Brings the database to the shipped schema, as its owner, and proves nothing else. */
export async function migrateDatabase(config: StorageConfig): Promise<void> {
  const { database } = config;
  const migrating = database.engine === 'sqlite' ? migrateSqlite(sqliteFile(config)) : migratePostgres(database.url);
  await migrating.catch((error: unknown) => explainDatabase(config, error));
}

/**
 * Contents, the bytes of snapshots and sealed audits are apart: members put contents, and could otherwise name what the
 * others are made of, or have it swept away. Rejects with ConfigFault.
 */
export async function openBlobs({
  blobsDirectory,
}: StorageConfig): Promise<{ contents: BlobStore; snapshots: BlobStore; audits: BlobStore }> {
  try {
    return {
      contents: await openBlobFiles(join(blobsDirectory, 'contents')),
      snapshots: await openBlobFiles(join(blobsDirectory, 'snapshots')),
      audits: await openBlobFiles(join(blobsDirectory, 'audit')),
    };
  } catch (error) {
    if (!(error instanceof BlobFault)) throw error;
    const fault = new ConfigFault('MWP_BLOBS_DIR', `(${blobsDirectory}) cannot be used: ${error.message}`);
    fault.cause = error;
    throw fault;
  }
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
  if (!(error instanceof StoreFault)) throw error;
  const fault =
    database.engine === 'postgres'
      ? new ConfigFault('DATABASE_URL', `leads to no usable database: ${error.message}`)
      : new ConfigFault('MWP_DATA_DIR', `holds no usable database: ${error.message}`);
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

function openStore(
  config: Config,
  logger: Logger,
  observer: StoreObserver,
  options: Omit<StartOptions, 'logger'> & { sealRegistry: SealRegistry },
): Promise<AuthorityStore> {
  return openStoreWith(config, {
    migrate: true,
    observer,
    onLostAudit: (err, { organizationId: tenant, groupId, actionId, code, stage }) =>
      logger.error({ tenant, groupId, actionId, code, stage, err }, 'an audit record was lost'),
    ...options,
  });
}

async function openStoreWith(
  config: StorageConfig,
  shared: {
    migrate?: boolean;
    onLostAudit?: OnLostAudit;
    observer?: StoreObserver;
    sealRegistry?: SealRegistry;
  } & Omit<StartOptions, 'logger'>,
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
    await signers.signerOf(first, first.authority, await store.organizations.now());
  } catch (cause) {
    const fault = new ConfigFault('MWP_MASTER_KEY', 'is not the key that this database was sealed under');
    fault.cause = cause;
    throw fault;
  }
}

/** A database that is gone is another dependency's problem: then this throws. */
async function keyProblems(store: AuthorityStore, signers: VaultSigners): Promise<string[]> {
  try {
    await proveMasterKey(store, signers);
    return [];
  } catch (error) {
    if (error instanceof ConfigFault) return ['the master key does not open the keys of this database'];
    throw error;
  }
}
