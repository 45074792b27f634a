// Rows as they are stored, of the local store, for who proves them. Sibling of postgres/history.ts.
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
import type { SqliteConnection, Value } from './connection.ts';
import { registrySince } from './registry.ts';
import { tenantStatement, type TenantStatement } from './statements.ts';

const STREAMS = tenantStatement(
  'streams in order',
  'SELECT * FROM streams WHERE organization_id = ?1 AND stream_id > ?2 ORDER BY stream_id LIMIT ?3',
);
const TRANSITIONS = tenantStatement(
  'transitions of a stream',
  `SELECT stream_id, revision, log_hash FROM transitions
   WHERE organization_id = ?1 AND stream_id = ?2 AND revision > ?3 ORDER BY revision LIMIT ?4`,
);
export const COMMAND = tenantStatement(
  'stored Command',
  'SELECT * FROM commands WHERE organization_id = ?1 AND signing_hash = ?2',
);
export const DOCUMENT = tenantStatement(
  'stored document',
  'SELECT * FROM documents WHERE organization_id = ?1 AND signing_hash = ?2',
);
export const ADMISSION = tenantStatement(
  'stored admission record',
  'SELECT * FROM admissions WHERE organization_id = ?1 AND signing_hash = ?2',
);
export const RECEIPT = tenantStatement(
  'stored receipt',
  'SELECT * FROM receipts WHERE organization_id = ?1 AND actor_type = ?2 AND actor_id = ?3 AND action_id = ?4',
);
const AGGREGATE = tenantStatement(
  'stored aggregate',
  `SELECT kind, id, group_id, version, document, hash, state, holder, parent FROM aggregates
   WHERE organization_id = ?1 AND kind = ?2 AND id = ?3`,
);
const TEXT = tenantStatement(
  'stored text',
  `SELECT commitment, event_id, group_id, value FROM texts
   WHERE organization_id = ?1 AND group_id = ?2 AND commitment = ?3`,
);
const ORGANIZATION = tenantStatement('stored Organization', 'SELECT * FROM organizations WHERE organization_id = ?1');
const PRINCIPALS = tenantStatement('stored principals', 'SELECT * FROM principals WHERE organization_id = ?1');
const BINDINGS = tenantStatement('stored key bindings', 'SELECT * FROM key_bindings WHERE organization_id = ?1');
const VALIDITY = tenantStatement(
  'stored key validity',
  'SELECT * FROM key_validity WHERE organization_id = ?1 ORDER BY key_id, sequence',
);
const POLICIES = tenantStatement(
  'stored policies',
  'SELECT version, document FROM policies WHERE organization_id = ?1',
);
const COUNTS = COUNTED_TABLES.map((table) => ({
  table,
  statement: tenantStatement(`count of ${table}`, `SELECT count(*) AS rows FROM ${table} WHERE organization_id = ?1`),
}));

export function historyReader(connection: SqliteConnection, organizationId: string): HistoryReader {
  const each = <Record, Answer>(statement: TenantStatement, keys: Value[][], from: (record: Record) => Answer) =>
    keys.flatMap((key) => connection.all<Record>(statement, organizationId, ...key)).map(from);
  const hashes = (signingHashes: string[]) => signingHashes.map((hash) => [hash]);
  return {
    streamRows: async (afterId, limit) =>
      each(STREAMS, [[afterId, pageLimit(limit)]], (record: StreamRecord) => streamFromRecord(record)),
    transitions: async (streamId, afterRevision, limit) =>
      each(TRANSITIONS, [[streamId, afterRevision, pageLimit(limit)]], (record: TransitionRecord) => ({
        streamId: record.stream_id,
        revision: record.revision,
        logHash: record.log_hash,
      })),
    commands: async (wanted) => each(COMMAND, hashes(wanted), (record: CommandRecord) => commandFromRecord(record)),
    documents: async (wanted) => each(DOCUMENT, hashes(wanted), (record: DocumentRecord) => documentFromRecord(record)),
    admissions: async (wanted) =>
      each(ADMISSION, hashes(wanted), (record: AdmissionRecord) => admissionFromRecord(record)),
    receipts: async (keys) =>
      each(
        RECEIPT,
        keys.map(({ actor, actionId }) => [actor.type, actor.id, actionId]),
        (record: ReceiptRecord) => receiptFromRecord(record),
      ),
    aggregateRows: async (keys) =>
      each(
        AGGREGATE,
        keys.map(({ kind, id }) => [kind, id]),
        (record: AggregateRecord) => aggregateRowFromRecord(record),
      ),
    textRows: async (groupId, commitments) =>
      each(
        TEXT,
        commitments.map((commitment) => [groupId, commitment]),
        (record: TextRecord) => textFromRecord(record),
      ),
    registrySince: async (revision) => registrySince(connection, organizationId, revision),
    registered: async () => {
      const rows = <Record, Answer>(statement: TenantStatement, from: (record: Record) => Answer) =>
        each(statement, [[]], from);
      const [organization] = rows(ORGANIZATION, organizationFromRecord);
      if (!organization) throw new StoreFault('corrupt', 'no such Organization');
      return {
        organization,
        principals: rows(PRINCIPALS, principalFromRecord),
        bindings: rows(BINDINGS, bindingFromRecord),
        validity: rows(VALIDITY, validityFromRecord),
        policies: rows(POLICIES, (record: { version: number; document: string }) => record),
      };
    },
    rowCounts: async () =>
      Object.fromEntries(
        COUNTS.map(({ table, statement }) => [
          table,
          connection.first<{ rows: number }>(statement, organizationId)?.rows ?? 0,
        ]),
      ) as RowCounts,
  };
}

type StreamRecord = HeadRecord & { stream_kind: string };

interface TransitionRecord {
  stream_id: string;
  revision: number;
  log_hash: string;
}
