// Reads of one snapshot on the local store. Sibling of postgres/reading.ts.
import type { AggregateKind } from '../../domain/aggregates.ts';
import { readKey } from '../../domain/reads.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type {
  AdmissionRecord,
  CommandRecord,
  DocumentRecord,
  PolicyLogRecord,
  ReceiptRecord,
} from '../evidence-records.ts';
import {
  admissionFromRecord,
  commandFromRecord,
  documentFromRecord,
  policyLogFromRecord,
  receiptFromRecord,
} from '../evidence-records.ts';
import type { AdmissionRow, Reader, ReceiptKey, ReceiptRow, StreamHead } from '../port.ts';
import type { EventRecord, HeadRecord } from '../stream-records.ts';
import { eventFromRecord, headFromRecord, inStreamOrder } from '../stream-records.ts';
import { pageLimit } from '../bounded-reads.ts';
import { loadedReads } from '../read-answers.ts';
import { auditPage, refusalsOf } from './audit.ts';
import type { SqliteConnection } from './connection.ts';
import { ADMISSION, COMMAND, DOCUMENT, historyReader, RECEIPT } from './history.ts';
import { load, page } from './loading.ts';
import { currentPolicy } from './policies.ts';
import { segmentReader } from './segments.ts';
import { sealedAuditReader } from './sealed-audits.ts';
import { snapshotReader } from './snapshots.ts';
import { tenantStatement } from './statements.ts';
import { findUpload } from './uploads.ts';
import { withheldReader } from './withheld.ts';

const STREAM = tenantStatement('stream', 'SELECT * FROM streams WHERE organization_id = ?1 AND stream_id = ?2');
const STREAM_IDS = tenantStatement(
  'stream ids',
  'SELECT stream_id FROM streams WHERE organization_id = ?1 ORDER BY stream_id',
);
const EVENTS = tenantStatement(
  'events of a stream',
  'SELECT * FROM events WHERE organization_id = ?1 AND stream_id = ?2 AND position > ?3 ORDER BY position LIMIT ?4',
);
const EVENT = tenantStatement('event', 'SELECT * FROM events WHERE organization_id = ?1 AND event_id = ?2');
const POLICY_LOG = tenantStatement(
  'policy log of a Group',
  'SELECT * FROM policy_log WHERE organization_id = ?1 AND group_id = ?2 AND position > ?3 ORDER BY position LIMIT ?4',
);
const HASHES = tenantStatement(
  'aggregate hashes of a Group',
  'SELECT kind, id, hash FROM aggregates WHERE organization_id = ?1 AND group_id = ?2 ORDER BY kind, id',
);
const TEXTS = tenantStatement(
  'texts',
  `SELECT commitment, value FROM texts t
   WHERE organization_id = ?1 AND group_id = ?2 AND commitment IN (SELECT value FROM json_each(?3))
     AND NOT EXISTS (SELECT 1 FROM withheld w
       WHERE w.organization_id = ?1 AND w.event_id = t.event_id AND w.cause = 'erased')`,
);

const TEXTS_SHOWN = tenantStatement(
  'texts that are not withheld',
  `SELECT commitment, value FROM texts t
   WHERE organization_id = ?1 AND group_id = ?2 AND commitment IN (SELECT value FROM json_each(?3))
     AND NOT EXISTS (SELECT 1 FROM withheld w WHERE w.organization_id = ?1 AND w.event_id = t.event_id)`,
);

export function streamHeads(connection: SqliteConnection, organizationId: string, ids: string[]): StreamHead[] {
  return ids.flatMap((id) => connection.all<HeadRecord>(STREAM, organizationId, id)).map(headFromRecord);
}

export function receiptOf(
  connection: SqliteConnection,
  organizationId: string,
  { actor, actionId }: ReceiptKey,
): ReceiptRow | undefined {
  const record = connection.first<ReceiptRecord>(RECEIPT, organizationId, actor.type, actor.id, actionId);
  return record && receiptFromRecord(record);
}

export function admissionsOf(connection: SqliteConnection, organizationId: string, hashes: string[]): AdmissionRow[] {
  return hashes
    .flatMap((hash) => connection.all<AdmissionRecord>(ADMISSION, organizationId, hash))
    .map(admissionFromRecord);
}

export function textsOf(
  connection: SqliteConnection,
  organizationId: string,
  groupId: string,
  commitments: string[],
  which: 'all' | 'shown' = 'all',
): Map<string, string> {
  const wanted = JSON.stringify(commitments);
  const found = connection.all<{ commitment: string; value: string }>(
    which === 'all' ? TEXTS : TEXTS_SHOWN,
    organizationId,
    groupId,
    wanted,
  );
  return new Map(found.map(({ commitment, value }) => [commitment, value]));
}

export function readerOf(connection: SqliteConnection, organizationId: OrganizationId, clock: () => string): Reader {
  const eventsById = (ids: string[]) =>
    [...new Set(ids)]
      .flatMap((id) => connection.all<EventRecord>(EVENT, organizationId, id))
      .map(eventFromRecord)
      .sort(inStreamOrder);
  return {
    now: async () => clock(),
    policy: async () => currentPolicy(connection, organizationId),
    load: async (reads) => {
      const answers = load(connection, organizationId, reads, clock());
      return loadedReads(reads, (read) => answers.get(readKey(read)));
    },
    page: async (request) => page(connection, organizationId, request),
    texts: async (groupId, commitments, which = 'shown') =>
      textsOf(connection, organizationId, groupId, commitments, which),
    stream: async (streamId) => streamHeads(connection, organizationId, [streamId])[0],
    streamIds: async () =>
      connection.all<{ stream_id: string }>(STREAM_IDS, organizationId).map((row) => row.stream_id),
    events: async (streamId, afterPosition, limit) =>
      connection
        .all<EventRecord>(EVENTS, organizationId, streamId, afterPosition, pageLimit(limit))
        .map(eventFromRecord),
    eventAt: async (streamId, position) =>
      connection
        .all<EventRecord>(EVENTS, organizationId, streamId, position - 1, 1)
        .map(eventFromRecord)
        .find((row) => row.position === position),
    event: async (eventId) => eventsById([eventId])[0],
    eventsById: async (eventIds) => eventsById(eventIds),
    receipt: async (key) => receiptOf(connection, organizationId, key),
    command: async (hash) => connection.all<CommandRecord>(COMMAND, organizationId, hash).map(commandFromRecord)[0],
    document: async (hash) => connection.all<DocumentRecord>(DOCUMENT, organizationId, hash).map(documentFromRecord)[0],
    admission: async (hash) => admissionsOf(connection, organizationId, [hash])[0],
    policyLog: async (groupId, afterPosition, limit) =>
      connection
        .all<PolicyLogRecord>(POLICY_LOG, organizationId, groupId, afterPosition, pageLimit(limit))
        .map(policyLogFromRecord),
    aggregateHashes: async (groupId) =>
      connection.all<{ kind: AggregateKind; id: string; hash: string }>(HASHES, organizationId, groupId),
    ...historyReader(connection, organizationId),
    ...snapshotReader(connection, organizationId),
    ...segmentReader(connection, organizationId),
    ...sealedAuditReader(connection, organizationId),
    ...withheldReader(connection, organizationId),
    audit: async (afterId, limit, groupId) =>
      auditPage(connection, organizationId, { afterId, limit: pageLimit(limit), groupId }),
    refusals: async (groupId) => refusalsOf(connection, organizationId, groupId),
    upload: async (key) => findUpload(connection, organizationId, key),
  };
}
