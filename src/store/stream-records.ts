// Heads, Events, aggregates and texts as the tables spell them: snake_case, principals in two columns, no nesting. Both
// engines use the same names, so both adapters read and write through here. Knows no SQL.
import type { PrincipalType } from '../protocol/principals.ts';
import type { AggregateRow, EventRow, StreamAdvance, StreamHead, StreamRow, TextRow, Transition } from './port.ts';

export interface HeadRecord {
  stream_id: string;
  position: number;
  revision: number;
  last_event_at: string;
  chain_hash: string;
  log_hash: string;
  policy_position: number;
  root_group_id: string;
}

export function headFromRecord(record: HeadRecord): StreamHead {
  return {
    streamId: record.stream_id,
    position: record.position,
    revision: record.revision,
    lastEventAt: record.last_event_at,
    chainHash: record.chain_hash,
    logHash: record.log_hash,
    policyPosition: record.policy_position,
    rootGroupId: record.root_group_id,
  };
}

export function streamFromRecord(record: HeadRecord & { stream_kind: string }): StreamRow {
  return { head: headFromRecord(record), streamKind: record.stream_kind };
}

export interface AdvanceRecord extends HeadRecord {
  stream_kind: string;
  /** Position before the transition. */
  expected: number;
}

export function advanceToRecord({ head, expectedPosition, streamKind }: StreamAdvance): AdvanceRecord {
  return {
    stream_id: head.streamId,
    stream_kind: streamKind,
    expected: expectedPosition,
    position: head.position,
    revision: head.revision,
    last_event_at: head.lastEventAt,
    chain_hash: head.chainHash,
    log_hash: head.logHash,
    policy_position: head.policyPosition,
    root_group_id: head.rootGroupId,
  };
}

/** Is the stream created here? Otherwise its head must stand at the expected position. */
export function isCreation(record: AdvanceRecord): boolean {
  return record.expected === 0 && record.revision === 1;
}

export interface EventRecord {
  stream_id: string;
  position: number;
  event_id: string;
  kind: string;
  group_id: string;
  aggregate_revision: number | null;
  actor_type: PrincipalType;
  actor_id: string;
  occurred_at: string;
  command_hash: string;
  signing_hash: string;
  key_id: string;
  chain_hash: string;
  admission_record_id: string;
  trusted_accepted_at: string;
  revision: number;
  body: string | null;
}

export function eventToRecord(row: EventRow): EventRecord {
  return {
    stream_id: row.streamId,
    position: row.position,
    event_id: row.eventId,
    kind: row.kind,
    group_id: row.groupId,
    aggregate_revision: row.aggregateRevision,
    actor_type: row.actor.type,
    actor_id: row.actor.id,
    occurred_at: row.occurredAt,
    command_hash: row.commandHash,
    signing_hash: row.signingHash,
    key_id: row.keyId,
    chain_hash: row.chainHash,
    admission_record_id: row.admissionRecordId,
    trusted_accepted_at: row.trustedAcceptedAt,
    revision: row.revision,
    body: row.body,
  };
}

export function eventFromRecord(record: EventRecord): EventRow {
  return {
    streamId: record.stream_id,
    position: record.position,
    eventId: record.event_id,
    kind: record.kind,
    groupId: record.group_id,
    aggregateRevision: record.aggregate_revision,
    actor: { type: record.actor_type, id: record.actor_id },
    occurredAt: record.occurred_at,
    commandHash: record.command_hash,
    signingHash: record.signing_hash,
    keyId: record.key_id,
    chainHash: record.chain_hash,
    admissionRecordId: record.admission_record_id,
    trustedAcceptedAt: record.trusted_accepted_at,
    revision: record.revision,
    body: record.body ?? '',
  };
}

export interface AggregateRecord {
  kind: string;
  id: string;
  group_id: string;
  /** The version that must still be there; 0: none. */
  version: number;
  /** JSON text. */
  document: string;
  hash: string;
  state: string | null;
  holder: string | null;
  parent: string | null;
}

export function aggregateToRecord(change: Transition['aggregates'][number]): AggregateRecord {
  return {
    kind: change.kind,
    id: change.id,
    group_id: change.groupId,
    version: change.expectedVersion,
    document: JSON.stringify(change.document),
    hash: change.hash,
    state: change.index.state ?? null,
    holder: change.index.holder ?? null,
    parent: change.index.parent ?? null,
  };
}

export function aggregateRowFromRecord({ group_id: groupId, ...record }: AggregateRecord): AggregateRow {
  return { groupId, ...record };
}

export interface TextRecord {
  commitment: string;
  event_id: string;
  group_id: string;
  value: string;
}

export function textToRecord(row: TextRow): TextRecord {
  return { commitment: row.commitment, event_id: row.eventId, group_id: row.groupId, value: row.value };
}

export function textFromRecord(record: TextRecord): TextRow {
  return { commitment: record.commitment, eventId: record.event_id, groupId: record.group_id, value: record.value };
}

/** For `sort`: Events that were asked for by id come stream by stream. */
export function inStreamOrder(a: EventRow, b: EventRow): number {
  if (a.streamId !== b.streamId) return a.streamId < b.streamId ? -1 : 1;
  return a.position - b.position;
}
