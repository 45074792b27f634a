// Reads of one snapshot on the hosted store. Sibling of sqlite/reading.ts.
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
import type { Reader, StreamHead } from '../port.ts';
import type { EventRecord, HeadRecord } from '../stream-records.ts';
import { eventFromRecord, headFromRecord } from '../stream-records.ts';
import { pageLimit } from '../bounded-reads.ts';
import { loadedReads } from '../read-answers.ts';
import { auditPage, refusalsOf } from './audit.ts';
import { historyReader } from './history.ts';
import type { SectionRow } from './loading.ts';
import { aggregateFrom, answersFrom, loadStatement, pageStatement } from './loading.ts';
import { currentPolicy } from './policies.ts';
import { segmentReader } from './segments.ts';
import { sealedAuditReader } from './sealed-audits.ts';
import { snapshotReader } from './snapshots.ts';
import { admissions, commands, documents, events, policyLog, receipts, streams } from './schema.ts';
import type { Row, Value } from './session.ts';
import { CLOCK, columnsOf, forEachOf } from './statements.ts';
import type { Transaction } from './transaction.ts';
import { findUpload } from './uploads.ts';
import { withheldReader } from './withheld.ts';

const STREAMS = forEachOf(
  '$2',
  `SELECT ${columnsOf(streams)} FROM mwp.streams WHERE organization_id = $1 AND stream_id = wanted.id`,
);
const STREAM_IDS = 'SELECT stream_id FROM mwp.streams WHERE organization_id = $1 ORDER BY stream_id';
const EVENTS = `SELECT ${columnsOf(events)} FROM mwp.events
  WHERE organization_id = $1 AND stream_id = $2 AND position > $3::bigint ORDER BY position LIMIT $4::bigint`;
const EVENTS_BY_ID = `${forEachOf('$2', `SELECT ${columnsOf(events)} FROM mwp.events WHERE organization_id = $1 AND event_id = wanted.id AND event_id >= ''`)}
  ORDER BY stream_id, position`;
const RECEIPT = `SELECT ${columnsOf(receipts)} FROM mwp.receipts
  WHERE organization_id = $1 AND actor_type = $2 AND actor_id = $3 AND action_id = $4`;
const COMMAND = `SELECT ${columnsOf(commands)} FROM mwp.commands WHERE organization_id = $1 AND signing_hash = $2`;
const DOCUMENT = `SELECT ${columnsOf(documents)} FROM mwp.documents WHERE organization_id = $1 AND signing_hash = $2`;
const ADMISSION = `SELECT ${columnsOf(admissions)} FROM mwp.admissions WHERE organization_id = $1 AND signing_hash = $2`;
const POLICY_LOG = `SELECT ${columnsOf(policyLog)} FROM mwp.policy_log
  WHERE organization_id = $1 AND group_id = $2 AND position > $3::bigint ORDER BY position LIMIT $4::bigint`;
const HASHES = `SELECT kind, id, hash FROM mwp.aggregates WHERE organization_id = $1 AND group_id = $2 AND group_id >= '' ORDER BY kind, id`;
const TEXT = `SELECT t.commitment, t.value FROM mwp.texts t
   WHERE t.organization_id = $1 AND t.group_id = $3 AND t.commitment = wanted.id`;
const MARK = `SELECT FROM mwp.withheld w
     WHERE w.organization_id = $1 AND w.event_id = t.event_id AND w.event_id >= ''`;
const TEXTS = forEachOf('$2', `${TEXT} AND NOT EXISTS (${MARK} AND w.cause = 'erased')`);
const TEXTS_SHOWN = forEachOf('$2', `${TEXT} AND NOT EXISTS (${MARK})`);

export async function streamHeads(
  transaction: Transaction,
  organizationId: string,
  streamIds: string[],
): Promise<StreamHead[]> {
  return (await transaction.query<Row & HeadRecord>(STREAMS, [organizationId, streamIds])).map(headFromRecord);
}

export async function textsOf(
  transaction: Transaction,
  organizationId: string,
  groupId: string,
  commitments: string[],
  which: 'all' | 'shown' = 'all',
): Promise<Map<string, string>> {
  const parameters = [organizationId, commitments, groupId];
  const rows = await transaction.query<{ commitment: string; value: string }>(
    which === 'all' ? TEXTS : TEXTS_SHOWN,
    parameters,
  );
  return new Map(rows.map(({ commitment, value }) => [commitment, value]));
}

/** `clock` absent: the database's own. */
export function readerOf(
  transaction: Transaction,
  organizationId: OrganizationId,
  clock: (() => string) | undefined,
): Reader {
  const all = async <Record, Answer>(text: string, values: Value[], from: (record: Record) => Answer) =>
    (await transaction.query(text, [organizationId, ...values])).map((row) => from(row as Record));
  return {
    now: async () => clock?.() ?? ((await transaction.query<{ now: string }>(CLOCK, []))[0]?.now as string),
    policy: () => currentPolicy(transaction, organizationId),
    load: async (reads) => {
      const { text, parameters } = loadStatement(organizationId, clock?.(), reads);
      const answers = answersFrom(reads, await transaction.query<SectionRow>(text, parameters));
      return loadedReads(reads, (read) => answers.get(readKey(read)));
    },
    page: async (request) => {
      const { text, parameters } = pageStatement(organizationId, request);
      return (await transaction.query<{ body: string }>(text, parameters)).map(({ body }) => aggregateFrom(body));
    },
    texts: (groupId, commitments, which = 'shown') => textsOf(transaction, organizationId, groupId, commitments, which),
    stream: async (streamId) => (await streamHeads(transaction, organizationId, [streamId]))[0],
    streamIds: () => all(STREAM_IDS, [], (record: { stream_id: string }) => record.stream_id),
    events: (streamId, afterPosition, limit) =>
      all(EVENTS, [streamId, afterPosition, pageLimit(limit)], (record: EventRecord) => eventFromRecord(record)),
    eventAt: async (streamId, position) =>
      (await all(EVENTS, [streamId, position - 1, 1], (record: EventRecord) => eventFromRecord(record))).find(
        (row) => row.position === position,
      ),
    event: async (eventId) =>
      (await all(EVENTS_BY_ID, [[eventId]], (record: EventRecord) => eventFromRecord(record)))[0],
    eventsById: (eventIds) => all(EVENTS_BY_ID, [eventIds], (record: EventRecord) => eventFromRecord(record)),
    receipt: async ({ actor, actionId }) =>
      (await all(RECEIPT, [actor.type, actor.id, actionId], (record: ReceiptRecord) => receiptFromRecord(record)))[0],
    command: async (hash) => (await all(COMMAND, [hash], (record: CommandRecord) => commandFromRecord(record)))[0],
    document: async (hash) => (await all(DOCUMENT, [hash], (record: DocumentRecord) => documentFromRecord(record)))[0],
    admission: async (hash) =>
      (await all(ADMISSION, [hash], (record: AdmissionRecord) => admissionFromRecord(record)))[0],
    policyLog: (groupId, afterPosition, limit) =>
      all(POLICY_LOG, [groupId, afterPosition, pageLimit(limit)], (record: PolicyLogRecord) =>
        policyLogFromRecord(record),
      ),
    aggregateHashes: (groupId) =>
      all(HASHES, [groupId], (record: { kind: AggregateKind; id: string; hash: string }) => ({ ...record })),
    ...historyReader(transaction, organizationId),
    ...snapshotReader(transaction, organizationId),
    ...segmentReader(transaction, organizationId),
    ...sealedAuditReader(transaction, organizationId),
    ...withheldReader(transaction, organizationId),
    audit: (afterId, limit, groupId) =>
      auditPage(transaction, organizationId, { afterId, limit: pageLimit(limit), groupId }),
    refusals: (groupId) => refusalsOf(transaction, organizationId, groupId),
    upload: (key) => findUpload(transaction, organizationId, key),
  };
}
