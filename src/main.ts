// Composition: the only file that knows every part. `startService` is the whole service in one call, for `mwp serve`,
// for tests and for the demo.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditSeals } from './archive/audit/ports.ts';
import { createAuditSeals } from './archive/audit/seals.ts';
import { withSealedBodies } from './archive/segments/opened.ts';
import { createSnapshots } from './archive/snapshot/take.ts';
import { Upkeep } from './archive/upkeep/upkeep.ts';
import { createAuthority, type AuthorityOptions } from './authority/authority.ts';
import type { Alarm } from './authority/seen.ts';
import { groupArchive } from './domain/commands/group-archive.ts';
import { Renditions } from './delivery/renditions.ts';
import { ConfigFault, type Config } from './config.ts';
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
import { openBlobs, openStoreWith, usableDirectory } from './storage.ts';
import type { StoreObserver } from './store/observer.ts';
import type { AuthorityStore, PassPoint, SealRegistry } from './store/port.ts';
import { toldOfErasures, toldOfUpkeep } from './told.ts';
import { takeServingLock, type ServingLock } from './store/sqlite/serving-lock.ts';

/** Milliseconds; a timer is never early and sometimes late. */
const DRAIN_DELAY_SLACK = 1_000;
const SERVING_LOCK_FILE = 'serving.lock';

export interface StartOptions {
  logger?: Logger;
  /** Milliseconds since 1970, instead of the clocks of host and database: for tests that move time. */
  clock?: () => number;
  /** Told of each passing of a named point: for tests that end the process there. */
  pass?: PassPoint;
  /** Milliseconds from one look at the Groups that moved to the next: for tests that want many. */
  roundInterval?: number;
}

export interface Composed {
  store: AuthorityStore;
  /** The HTTP application; answers requests without a network, too. */
  app: ReturnType<typeof createApp>;
  logger: Logger;
  lifecycle: Lifecycle;
  /** Not started: who composes a service for a test says when it looks. */
  upkeep: Upkeep;
  /** What Prometheus reads. */
  metricsText: () => Promise<string>;
}

export interface RunningService {
  /** `http://host:port`, the port that was really bound. */
  url: string;
  /** Where metrics are read, if they have a listener of their own. */
  metricsUrl?: string;
  store: AuthorityStore;
  /** Looks after the Groups that moved, now and not in some seconds. Resolves when it is done; never rejects. */
  lookAfterGroups: () => Promise<void>;
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
  const database = await openStore(config, logger, observation, { ...options, sealRegistry });
  lifecycle.started({ name: 'the store', stop: () => database.close() });
  try {
    const signers = new VaultSigners(database.organizations, vault);
    await proveMasterKey(database, signers);
    const spaces = await openBlobs(config, database);
    const { contents: blobs, snapshots: snapshotBlobs, segments: segmentBlobs, audits: auditBlobs } = spaces;
    const opened = withSealedBodies(database, segmentBlobs);
    const alarm: Alarm = (message, err, about) => logger.error({ ...about, err }, message);
    const snapshots = createSnapshots({ store: opened, blobs: snapshotBlobs, signers, ...options });
    lifecycle.started({ name: 'the snapshot under way', stop: () => snapshots.stop() });
    const renditions = new Renditions({ store: opened, signers });
    const erasing = {
      store: database,
      blobs: segmentBlobs,
      renditions,
      ...toldOfErasures(logger, observation),
      ...options,
    };
    const upkeep = new Upkeep({
      store: opened,
      segmentBlobs,
      snapshots,
      snapshotBlobs,
      erasing,
      ...toldOfUpkeep(logger, observation),
      ...options,
    });
    const store = upkeep.watching(opened);
    lifecycle.started({ name: 'the look at a Group under way', stop: () => upkeep.stop() });
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
    return { store, app, logger, lifecycle, upkeep, metricsText };
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
  const { store, app, logger, lifecycle, upkeep, metricsText } = await composeService(config, options);
  try {
    const metrics = config.metrics && (await listenForMetrics(config.metrics, metricsText));
    if (metrics) lifecycle.started({ name: 'the metrics listener', stop: () => metrics.close() });
    const server = await listen(app.fetch, config);
    lifecycle.started({ name: 'the HTTP server', stop: () => server.close() });
    delayTheStop(config, lifecycle);
    upkeep.start();
    const metricsUrl = metrics && { metricsUrl: metrics.url };
    logger.info({ url: server.url, ...metricsUrl, database: config.database.engine }, 'serving');
    const lookAfterGroups = () => upkeep.round();
    return { url: server.url, ...metricsUrl, store, lookAfterGroups, stop: () => lifecycle.stop() };
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

function keptMasterKey(config: Config): Uint8Array {
  const folder = usableDirectory(config);
  try {
    return localMasterKey(folder);
  } catch (error) {
    if (error instanceof MasterKeyFault) throw error;
    throw new ConfigFault('MWP_DATA_DIR', `holds no usable master key: ${(error as Error).message}`);
  }
}

/** Of the service alone: `mwp org create`, `mwp verify` and `mwp backup` may use the file beside it. */
function servingLock(config: Config): ServingLock | undefined {
  if (config.database.engine !== 'sqlite') return undefined;
  return takeServingLock(join(usableDirectory(config), SERVING_LOCK_FILE));
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
