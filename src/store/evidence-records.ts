// Commands, documents, admission records, receipts, the policy log and snapshots as the tables spell them: snake_case, principals
// in two columns. Both engines use the same names. Knows no SQL.
import type { PrincipalType } from '../protocol/principals.ts';
import type { AdmissionRow, CommandRow, DocumentRow, PolicyLogRow, ReceiptRow, SnapshotRow } from './port.ts';
import { parseStored } from './stored-json.ts';

export interface CommandRecord {
  signing_hash: string;
  actor_type: PrincipalType;
  actor_id: string;
  action_id: string;
  kind: string;
  group_id: string;
  key_id: string;
  issued_at: string;
  body: string | null;
}

export function commandToRecord(row: CommandRow): CommandRecord {
  return {
    signing_hash: row.signingHash,
    actor_type: row.actor.type,
    actor_id: row.actor.id,
    action_id: row.actionId,
    kind: row.kind,
    group_id: row.groupId,
    key_id: row.keyId,
    issued_at: row.issuedAt,
    body: row.body,
  };
}

export function commandFromRecord(record: CommandRecord): CommandRow {
  return {
    signingHash: record.signing_hash,
    actor: { type: record.actor_type, id: record.actor_id },
    actionId: record.action_id,
    kind: record.kind,
    groupId: record.group_id,
    keyId: record.key_id,
    issuedAt: record.issued_at,
    body: record.body ?? '',
  };
}

export interface DocumentRecord {
  signing_hash: string;
  document_kind: string;
  group_id: string;
  key_id: string;
  principal_type: PrincipalType;
  principal_id: string;
  command_hash: string;
  body: string | null;
}

export function documentToRecord(row: DocumentRow): DocumentRecord {
  return {
    signing_hash: row.signingHash,
    document_kind: row.documentKind,
    group_id: row.groupId,
    key_id: row.keyId,
    principal_type: row.principal.type,
    principal_id: row.principal.id,
    command_hash: row.commandHash,
    body: row.body,
  };
}

export function documentFromRecord(record: DocumentRecord): DocumentRow {
  return {
    signingHash: record.signing_hash,
    documentKind: record.document_kind,
    groupId: record.group_id,
    keyId: record.key_id,
    principal: { type: record.principal_type, id: record.principal_id },
    commandHash: record.command_hash,
    body: record.body ?? '',
  };
}

export interface AdmissionRecord {
  signing_hash: string;
  admission_record_id: string;
  document_kind: string;
  key_id: string;
  principal_type: PrincipalType;
  principal_id: string;
  trusted_accepted_at: string;
  accepted_by_type: PrincipalType;
  accepted_by_id: string;
  stream_id: string;
  revision: number;
  record: string;
}

export function admissionToRecord(row: AdmissionRow): AdmissionRecord {
  return {
    signing_hash: row.signingHash,
    admission_record_id: row.admissionRecordId,
    document_kind: row.documentKind,
    key_id: row.keyId,
    principal_type: row.principal.type,
    principal_id: row.principal.id,
    trusted_accepted_at: row.trustedAcceptedAt,
    accepted_by_type: row.acceptedBy.type,
    accepted_by_id: row.acceptedBy.id,
    stream_id: row.streamId,
    revision: row.revision,
    record: row.record,
  };
}

export function admissionFromRecord(record: AdmissionRecord): AdmissionRow {
  return {
    signingHash: record.signing_hash,
    admissionRecordId: record.admission_record_id,
    documentKind: record.document_kind,
    keyId: record.key_id,
    principal: { type: record.principal_type, id: record.principal_id },
    trustedAcceptedAt: record.trusted_accepted_at,
    acceptedBy: { type: record.accepted_by_type, id: record.accepted_by_id },
    streamId: record.stream_id,
    revision: record.revision,
    record: record.record,
  };
}

export interface ReceiptRecord {
  actor_type: PrincipalType;
  actor_id: string;
  action_id: string;
  signing_hash: string;
  key_id: string;
  stream_id: string;
  revision: number;
  primary_event_id: string;
  /** JSON array. */
  event_ids: string;
  accepted_at: string;
  body: string;
}

export function receiptToRecord(row: ReceiptRow): ReceiptRecord {
  return {
    actor_type: row.actor.type,
    actor_id: row.actor.id,
    action_id: row.actionId,
    signing_hash: row.signingHash,
    key_id: row.keyId,
    stream_id: row.streamId,
    revision: row.revision,
    primary_event_id: row.primaryEventId,
    event_ids: JSON.stringify(row.eventIds),
    accepted_at: row.acceptedAt,
    body: row.body,
  };
}

export function receiptFromRecord(record: ReceiptRecord): ReceiptRow {
  return {
    actor: { type: record.actor_type, id: record.actor_id },
    actionId: record.action_id,
    signingHash: record.signing_hash,
    keyId: record.key_id,
    streamId: record.stream_id,
    revision: record.revision,
    primaryEventId: record.primary_event_id,
    eventIds: parseStored<string[]>(record.event_ids),
    acceptedAt: record.accepted_at,
    body: record.body,
  };
}

export interface PolicyLogRecord {
  group_id: string;
  position: number;
  entry_id: string;
  decision: string;
  actor_type: PrincipalType;
  actor_id: string;
  occurred_at: string;
  details: string;
  event_id: string;
  revision: number;
}

export function policyLogToRecord(row: PolicyLogRow): PolicyLogRecord {
  return {
    group_id: row.groupId,
    position: row.position,
    entry_id: row.entryId,
    decision: row.decision,
    actor_type: row.actor.type,
    actor_id: row.actor.id,
    occurred_at: row.occurredAt,
    details: row.details,
    event_id: row.eventId,
    revision: row.revision,
  };
}

export function policyLogFromRecord(record: PolicyLogRecord): PolicyLogRow {
  return {
    groupId: record.group_id,
    position: record.position,
    entryId: record.entry_id,
    decision: record.decision,
    actor: { type: record.actor_type, id: record.actor_id },
    occurredAt: record.occurred_at,
    details: record.details,
    eventId: record.event_id,
    revision: record.revision,
  };
}

export interface SnapshotRecord {
  group_id: string;
  position: number;
  snapshot_id: string;
  through_sequence: number;
  signing_hash: string;
  artifact_hash: string;
  state_hash: string;
  packs: string;
  created_at: string;
  body: string;
}

export function snapshotToRecord(row: SnapshotRow): SnapshotRecord {
  return {
    group_id: row.groupId,
    position: row.position,
    snapshot_id: row.snapshotId,
    through_sequence: row.throughSequence,
    signing_hash: row.signingHash,
    artifact_hash: row.artifactHash,
    state_hash: row.stateHash,
    packs: row.packs,
    created_at: row.createdAt,
    body: row.body,
  };
}

export function snapshotFromRecord(record: SnapshotRecord): SnapshotRow {
  return {
    groupId: record.group_id,
    position: record.position,
    snapshotId: record.snapshot_id,
    throughSequence: record.through_sequence,
    signingHash: record.signing_hash,
    artifactHash: record.artifact_hash,
    stateHash: record.state_hash,
    packs: record.packs,
    createdAt: record.created_at,
    body: record.body,
  };
}
