// Writes one accepted transition, on the local store: heads first, then what hangs on them. Runs inside a transaction that
// somebody else commits; every rule that does not hold throws a fault, and then nothing of it stays.
import type { AggregateRecord } from '../stream-records.ts';
import { advanceToRecord, aggregateToRecord, eventToRecord, isCreation, textToRecord } from '../stream-records.ts';
import type { AdvanceRecord } from '../stream-records.ts';
import {
  admissionToRecord,
  commandToRecord,
  documentToRecord,
  policyLogToRecord,
  receiptToRecord,
} from '../evidence-records.ts';
import { erasuresOf } from '../erasure-records.ts';
import { withheldToRecord } from '../withheld-records.ts';
import type { Transition } from '../port.ts';
import { StoreFault } from '../port.ts';
import type { SqliteConnection } from './connection.ts';
import type { InsertStatement } from './statements.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const words = (text: string) => text.trim().split(/\s+/);

const INSERT_STREAM = insertStatement(
  'streams',
  words(`stream_id stream_kind position revision last_event_at chain_hash log_hash policy_position root_group_id`),
);
const INSERT_EVENT = insertStatement(
  'events',
  words(`stream_id position event_id kind group_id aggregate_revision actor_type actor_id occurred_at command_hash
    signing_hash key_id chain_hash admission_record_id trusted_accepted_at revision body`),
);
const INSERT_TRANSITION = insertStatement('transitions', words('stream_id revision log_hash'));
const INSERT_AGGREGATE = insertStatement(
  'aggregates',
  words('kind id group_id version document hash state holder parent'),
);
/** A commitment is a hash of its text: who comes second brings the same. */
const INSERT_TEXT = insertStatement(
  'texts',
  words('commitment event_id group_id value'),
  'ON CONFLICT (organization_id, group_id, commitment) DO NOTHING',
);
const INSERT_COMMAND = insertStatement(
  'commands',
  words('signing_hash actor_type actor_id action_id kind group_id key_id issued_at body'),
);
/** The document that was accepted first stays, with the signature it came with. */
const INSERT_DOCUMENT = insertStatement(
  'documents',
  words('signing_hash document_kind group_id key_id principal_type principal_id command_hash body'),
  'ON CONFLICT (organization_id, signing_hash) DO NOTHING',
);
export const INSERT_ADMISSION = insertStatement(
  'admissions',
  words(`signing_hash admission_record_id document_kind key_id principal_type principal_id trusted_accepted_at
    accepted_by_type accepted_by_id stream_id revision record`),
);
const INSERT_RECEIPT = insertStatement(
  'receipts',
  words(`actor_type actor_id action_id signing_hash key_id stream_id revision primary_event_id event_ids accepted_at
    body`),
);
const INSERT_POLICY_LOG = insertStatement(
  'policy_log',
  words('group_id position entry_id decision actor_type actor_id occurred_at details event_id revision'),
);

const INSERT_MARK = insertStatement(
  'withheld',
  words('group_id position event_id cause reason_code ordered_by recorded_at'),
);
const INSERT_ERASURE = insertStatement(
  'erasures',
  words('ordered_by group_id first_sequence last_sequence state blobs recorded_at'),
);

const MOVE_STREAM = tenantStatement(
  'move a head',
  `UPDATE streams SET position = ?3, revision = ?4, last_event_at = ?5, chain_hash = ?6, log_hash = ?7,
     policy_position = ?8
   WHERE organization_id = ?1 AND stream_id = ?2 AND root_group_id = ?9 AND position = ?10`,
);
const CHANGE_AGGREGATE = tenantStatement(
  'change an aggregate',
  `UPDATE aggregates SET version = version + 1, document = ?6, hash = ?7, state = ?8, holder = ?9, parent = ?10
   WHERE organization_id = ?1 AND kind = ?2 AND id = ?3 AND group_id = ?4 AND version = ?5`,
);
const HEAD_IS_LAST = tenantStatement(
  'the head names its last Event',
  `SELECT max(position) AS last FROM events WHERE organization_id = ?1 AND stream_id = ?2`,
);

export function writeTransition(connection: SqliteConnection, organizationId: string, transition: Transition): void {
  const insert = (statement: InsertStatement, record: object) =>
    insertRecord(connection, statement, organizationId, record);
  const heads = transition.streams.map(advanceToRecord);
  for (const head of heads) {
    if (isCreation(head)) insert(INSERT_STREAM, head);
    else moveHead(connection, organizationId, head);
  }
  for (const event of transition.events) insert(INSERT_EVENT, eventToRecord(event));
  for (const head of heads) {
    checkHead(connection, organizationId, head);
    connection.run(INSERT_TRANSITION, organizationId, head.stream_id, head.revision, head.log_hash);
  }

  // Changes before creations: the lease that ends makes room for the one that begins.
  const aggregates = transition.aggregates.map(aggregateToRecord);
  for (const record of aggregates) if (record.version > 0) changeAggregate(connection, organizationId, record);
  for (const record of aggregates) {
    if (record.version > 0) continue;
    insert(INSERT_AGGREGATE, { ...record, version: 1 });
  }

  for (const text of transition.texts) insert(INSERT_TEXT, textToRecord(text));
  insert(INSERT_COMMAND, commandToRecord(transition.command));
  for (const row of transition.documents) insert(INSERT_DOCUMENT, documentToRecord(row));
  for (const row of transition.admissions) insert(INSERT_ADMISSION, admissionToRecord(row));
  insert(INSERT_RECEIPT, receiptToRecord(transition.receipt));
  for (const row of transition.policyLog) insert(INSERT_POLICY_LOG, policyLogToRecord(row));
  for (const row of transition.withheld) insert(INSERT_MARK, withheldToRecord(row));
  for (const row of erasuresOf(transition.withheld)) insert(INSERT_ERASURE, row);
}

function moveHead(connection: SqliteConnection, organizationId: string, head: AdvanceRecord): void {
  const changed = connection.run(
    MOVE_STREAM,
    organizationId,
    head.stream_id,
    head.position,
    head.revision,
    head.last_event_at,
    head.chain_hash,
    head.log_hash,
    head.policy_position,
    head.root_group_id,
    head.expected,
  );
  if (changed !== 1) throw new StoreFault('conflict', 'a stream is not where it was');
}

function checkHead(connection: SqliteConnection, organizationId: string, head: AdvanceRecord): void {
  const row = connection.first<{ last: number | null }>(HEAD_IS_LAST, organizationId, head.stream_id);
  if (row?.last !== head.position) throw new StoreFault('conflict', 'a head does not name its last Event');
}

function changeAggregate(connection: SqliteConnection, organizationId: string, record: AggregateRecord): void {
  const changed = connection.run(
    CHANGE_AGGREGATE,
    organizationId,
    record.kind,
    record.id,
    record.group_id,
    record.version,
    record.document,
    record.hash,
    record.state,
    record.holder,
    record.parent,
  );
  if (changed !== 1) throw new StoreFault('conflict', 'an aggregate is not what it was');
}
