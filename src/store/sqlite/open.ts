// Opens the local store: one SQLite file, owned by this process. The only door of this folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timestampFromMillis } from '../../protocol/timestamps.ts';
import { DatabaseBlobs } from '../database-blobs.ts';
import { observedStore } from '../observed.ts';
import { UNOBSERVED, type OnLostAudit, type StoreObserver } from '../observer.ts';
import type { AuthorityStore, PassPoint, SealRegistry } from '../port.ts';
import { GroupCommit } from '../group-commit.ts';
import { transactions } from './acceptance.ts';
import { SqliteConnections } from './connections.ts';
import { erasureStore } from './erasures.ts';
import { faultOf } from './faults.ts';
import { migrateSqlite } from './migrate.ts';
import { blobRows } from './blobs.ts';
import { organizationStore } from './organizations.ts';
import { sqliteProblems } from './problems.ts';
import { readerOf } from './reading.ts';
import { segmentStore } from './segments.ts';
import { sealedAuditStore } from './sealed-audits.ts';
import { recordSnapshot } from './snapshots.ts';
import { recordRenditions } from './withheld.ts';
import { uploadStore } from './uploads.ts';

export interface SqliteStoreOptions {
  /** A path, or `:memory:` for a database that is gone when the store is closed. */
  file: string;
  /** Milliseconds since 1970; the host clock unless a test moves time. */
  clock?: () => number;
  /** Bring the schema up to date first; a `:memory:` database always is. */
  migrate?: boolean;
  /** An audit record could not be written. */
  onLostAudit?: OnLostAudit;
  observer?: StoreObserver;
  pass?: PassPoint;
  /** Marks the entries of the Registry's log; without it they stay unsealed, and `mwp verify` says so. */
  sealRegistry?: SealRegistry;
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<AuthorityStore> {
  // SQLite's own `:memory:` is one connection's alone, and reading has connections of its own: a temporary file it is.
  const folder = options.file === ':memory:' ? mkdtempSync(join(tmpdir(), 'mwp-sqlite-')) : undefined;
  const file = folder === undefined ? options.file : join(folder, 'mwp.db');
  const durable = folder === undefined;
  if (options.migrate === true || folder !== undefined) await migrateSqlite(file);
  const observer = options.observer ?? UNOBSERVED;
  const connections = new SqliteConnections(file, { durable, observer, ...(options.pass && { pass: options.pass }) });
  const millis = options.clock ?? Date.now;
  const clock = () => timestampFromMillis(millis());
  const { sealRegistry } = options;
  const groupCommit = new GroupCommit(connections.writing, transactions(connections, clock, sealRegistry), observer);

  const onLostAudit: OnLostAudit = (cause, lost) => {
    observer.auditLost();
    options.onLostAudit?.(cause, lost);
  };

  const blobs = blobRows(connections, millis);
  const store: AuthorityStore = {
    engine: 'sqlite',
    organizations: organizationStore(connections, clock, onLostAudit, sealRegistry),
    uploads: uploadStore(connections, millis, blobs),
    segments: segmentStore(connections),
    sealedAudits: sealedAuditStore(connections, clock),
    erasures: erasureStore(connections, clock),
    blobs: (space) => new DatabaseBlobs(blobs, space),
    acceptTransition: (organizationId, plan, decide) => groupCommit.accept(organizationId, plan, decide),
    read: (organizationId, work) =>
      connections.read(organizationId, (connection) => work(readerOf(connection, organizationId, clock))),
    recordSnapshot: (organizationId, snapshot, admission) =>
      connections.write(organizationId, async (connection) => ({
        commit: true,
        result: recordSnapshot(connection, organizationId, snapshot, admission),
      })),
    recordRenditions: (organizationId, made) =>
      connections.write(organizationId, async (connection) => ({
        commit: true,
        result: recordRenditions(connection, organizationId, made),
      })),
    problems: () =>
      connections
        .write('', async (connection) => ({ commit: false, result: sqliteProblems(connection, { durable }) }))
        .catch((error: unknown) => [`the database does not answer: ${faultOf(error).message}`]),
    close: async () => {
      await connections.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  return options.observer ? observedStore(store, observer) : store;
}
