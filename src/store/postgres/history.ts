// Rows as they are stored, of the hosted store, for who proves them. Sibling of sqlite/history.ts.
import type { AdmissionRecord, CommandRecord, DocumentRecord, ReceiptRecord } from '../evidence-records.ts';
import { admissionFromRecord, commandFromRecord, documentFromRecord, receiptFromRecord } from '../evidence-records.ts';
import { pageLimit } from '../bounded-reads.ts';
import { StoreFault, COUNTED_TABLES, type HistoryReader, type RowCounts } from '../port.ts';
import {
  bindingFromRecord,
  organizationFromRecord,
  principalFromRecord,
  validityFromRecord,
} from '../registry-records.ts';
import type { AggregateRecord, HeadRecord, TextRecord } from '../stream-records.ts';
import { aggregateRowFromRecord, streamFromRecord, textFromRecord } from '../stream-records.ts';
import { registrySince } from './registry.ts';
import {
  admissions,
  commands,
  documents,
  keyBindings,
  keyValidity,
  organizations,
  policies,
  principals,
  receipts,
  streams,
} from './schema.ts';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Value } from './session.ts';
import { columnsOf, forEachOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const STREAMS = `SELECT ${columnsOf(streams)} FROM mwp.streams
  WHERE organization_id = $1 AND stream_id > $2 ORDER BY stream_id LIMIT $3::bigint`;
const TRANSITIONS = `SELECT stream_id, revision, log_hash FROM mwp.transitions
  WHERE organization_id = $1 AND stream_id = $2 AND revision > $3::bigint ORDER BY revision LIMIT $4::bigint`;
const byHash = (columns: string, table: string) =>
  forEachOf('$2', `SELECT ${columns} FROM mwp.${table} WHERE organization_id = $1 AND signing_hash = wanted.id`);
const COMMANDS = byHash(columnsOf(commands), 'commands');
const DOCUMENTS = byHash(columnsOf(documents), 'documents');
const ADMISSIONS = byHash(columnsOf(admissions), 'admissions');
// Both by keys of several columns, which come as objects. As in forEachOf, OFFSET 0 keeps this from becoming a join.
const RECEIPTS = `SELECT found.* FROM json_to_recordset($2) AS wanted(type text, id text, action text)
  CROSS JOIN LATERAL (
    SELECT ${columnsOf(receipts)} FROM mwp.receipts
    WHERE organization_id = $1 AND actor_type = wanted.type AND actor_id = wanted.id AND action_id = wanted.action OFFSET 0
  ) AS found`;
const AGGREGATES = `SELECT found.* FROM json_to_recordset($2) AS wanted(kind text, id text)
  CROSS JOIN LATERAL (
    SELECT a.kind, a.id, a.group_id, a.version, a.document::text AS document, a.hash, a.state, a.holder, a.parent
    FROM mwp.aggregates a WHERE a.organization_id = $1 AND a.kind = wanted.kind AND a.id = wanted.id OFFSET 0
  ) AS found`;
const TEXTS = forEachOf(
  '$2',
  `SELECT commitment, event_id, group_id, value FROM mwp.texts
   WHERE organization_id = $1 AND group_id = $3 AND commitment = wanted.id`,
);
const wholeOf = (table: PgTable, name: string) =>
  `SELECT ${columnsOf(table)} FROM mwp.${name} WHERE organization_id = $1`;
const ORGANIZATION = wholeOf(organizations, 'organizations');
const PRINCIPALS = wholeOf(principals, 'principals');
const BINDINGS = wholeOf(keyBindings, 'key_bindings');
const VALIDITY = `${wholeOf(keyValidity, 'key_validity')} ORDER BY key_id, sequence`;
const POLICIES = wholeOf(policies, 'policies');
const COUNTS = COUNTED_TABLES.map(
  (table) => `(SELECT count(*) FROM mwp.${table} WHERE organization_id = $1) AS ${table}`,
);

export function historyReader(transaction: Transaction, organizationId: string): HistoryReader {
  const all = async <Record, Answer>(text: string, values: Value[], from: (record: Record) => Answer) =>
    (await transaction.query(text, [organizationId, ...values])).map((row) => from(row as Record));
  return {
    streamRows: (afterId, limit) =>
      all(STREAMS, [afterId, pageLimit(limit)], (record: HeadRecord & { stream_kind: string }) =>
        streamFromRecord(record),
      ),
    transitions: (streamId, afterRevision, limit) =>
      all(TRANSITIONS, [streamId, afterRevision, pageLimit(limit)], (record: TransitionRecord) => ({
        streamId: record.stream_id,
        revision: record.revision,
        logHash: record.log_hash,
      })),
    commands: (wanted) => all(COMMANDS, [wanted], (record: CommandRecord) => commandFromRecord(record)),
    documents: (wanted) => all(DOCUMENTS, [wanted], (record: DocumentRecord) => documentFromRecord(record)),
    admissions: (wanted) => all(ADMISSIONS, [wanted], (record: AdmissionRecord) => admissionFromRecord(record)),
    receipts: (keys) =>
      all(
        RECEIPTS,
        [keys.map(({ actor, actionId }) => ({ type: actor.type, id: actor.id, action: actionId }))],
        (record: ReceiptRecord) => receiptFromRecord(record),
      ),
    aggregateRows: (keys) => all(AGGREGATES, [keys], (record: AggregateRecord) => aggregateRowFromRecord(record)),
    textRows: (groupId, commitments) =>
      all(TEXTS, [commitments, groupId], (record: TextRecord) => textFromRecord(record)),
    registrySince: (revision) => registrySince(transaction, organizationId, revision),
    registered: async () => {
      const [[organization], principalRows, bindings, validity, policyRows] = await Promise.all([
        all(ORGANIZATION, [], organizationFromRecord),
        all(PRINCIPALS, [], principalFromRecord),
        all(BINDINGS, [], bindingFromRecord),
        all(VALIDITY, [], validityFromRecord),
        all(POLICIES, [], ({ version, document }: { version: number; document: string }) => ({ version, document })),
      ]);
      if (!organization) throw new StoreFault('corrupt', 'no such Organization');
      return { organization, principals: principalRows, bindings, validity, policies: policyRows };
    },
    rowCounts: async () => {
      const [row] = await transaction.query(`SELECT ${COUNTS.join(', ')}`, [organizationId]);
      return Object.fromEntries(COUNTED_TABLES.map((table) => [table, Number(row?.[table])])) as RowCounts;
    },
  };
}

interface TransitionRecord {
  stream_id: string;
  revision: number;
  log_hash: string;
}
