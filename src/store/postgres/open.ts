// Opens the hosted store: one PostgreSQL database, any number of processes. The only door of this folder.
import { timestampFromMillis } from '../../protocol/timestamps.ts';
import { DatabaseBlobs } from '../database-blobs.ts';
import { observedStore } from '../observed.ts';
import { UNOBSERVED, type OnLostAudit, type StoreObserver } from '../observer.ts';
import type { AuthorityStore, PassPoint, SealRegistry } from '../port.ts';
import { GroupCommit } from '../group-commit.ts';
import { OPEN, OPEN_PARAMETERS, transactions } from './acceptance.ts';
import { PostgresConnections, SET_TENANT } from './connections.ts';
import { erasureStore } from './erasures.ts';
import { LOAD, LOAD_PARAMETERS } from './loading.ts';
import { migratePostgres } from './migrate.ts';
import { blobRows } from './blobs.ts';
import { organizationStore } from './organizations.ts';
import { postgresProblems } from './problems.ts';
import { readerOf } from './reading.ts';
import { segmentStore } from './segments.ts';
import { sealedAuditStore } from './sealed-audits.ts';
import { recordSnapshot } from './snapshots.ts';
import { recordRenditions } from './withheld.ts';
import { uploadStore } from './uploads.ts';
import { WRITE, WRITE_PARAMETERS } from './writing.ts';

/** Neither owner nor superuser; the migrations create it. */
export const RUNTIME_ROLE = 'mwp_authority';
export const CONNECTIONS_DEFAULT = 10;

/** Prepared when a connection opens, so that the first Command on it takes no more round trips than the others. */
const HOT = [
  { text: SET_TENANT, parameters: 1 },
  { text: OPEN, parameters: OPEN_PARAMETERS },
  { text: LOAD, parameters: LOAD_PARAMETERS },
  { text: WRITE, parameters: WRITE_PARAMETERS },
];

export interface PostgresStoreOptions {
  /** `postgres://…`; its user must be allowed to act as `mwp_authority`. */
  url: string;
  /** Milliseconds since 1970, in place of the database's clock: for tests that move time. */
  clock?: () => number;
  maxConnections?: number;
  /** Bring the schema up to date first; then the user must own it. */
  migrate?: boolean;
  /** Only a test that wants to see an unsafe role refused sets this. */
  role?: string;
  /** An audit record could not be written. */
  onLostAudit?: OnLostAudit;
  observer?: StoreObserver;
  pass?: PassPoint;
  /** Marks the entries of the Registry's log; without it they stay unsealed, and `mwp verify` says so. */
  sealRegistry?: SealRegistry;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<AuthorityStore> {
  if (options.migrate === true) await migratePostgres(options.url);
  const observer = options.observer ?? UNOBSERVED;
  const role = options.role ?? RUNTIME_ROLE;
  const connections = new PostgresConnections(
    { url: options.url, role, hot: HOT, observer, ...(options.pass && { pass: options.pass }) },
    options.maxConnections ?? CONNECTIONS_DEFAULT,
  );
  const millis = options.clock;
  const clock = millis && { millis, text: () => timestampFromMillis(millis()) };
  const groupCommit = new GroupCommit(
    connections.accepting,
    transactions(connections, clock?.text, observer, options.sealRegistry),
    observer,
  );

  const onLostAudit: OnLostAudit = (cause, lost) => {
    observer.auditLost();
    options.onLostAudit?.(cause, lost);
  };

  const blobs = blobRows(connections, millis);
  const store: AuthorityStore = {
    engine: 'postgres',
    organizations: organizationStore(connections, clock, onLostAudit, options.sealRegistry),
    uploads: uploadStore(connections, millis, blobs),
    segments: segmentStore(connections),
    sealedAudits: sealedAuditStore(connections, clock?.text),
    erasures: erasureStore(connections, clock?.text),
    blobs: (space) => new DatabaseBlobs(blobs, space),
    acceptTransition: (organizationId, plan, decide) => groupCommit.accept(organizationId, plan, decide),
    read: (organizationId, work) =>
      connections.read(organizationId, (transaction) => work(readerOf(transaction, organizationId, clock?.text))),
    recordSnapshot: (organizationId, snapshot, admission) =>
      recordSnapshot(connections, organizationId, snapshot, admission),
    recordRenditions: (organizationId, made) => recordRenditions(connections, organizationId, made),
    problems: () => postgresProblems(connections),
    close: () => connections.close(),
  };
  return options.observer ? observedStore(store, observer) : store;
}
