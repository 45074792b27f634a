// Records of refusals as the tables spell them. Both engines use the same names. Knows no SQL.
import type { Principal, PrincipalType } from '../protocol/principals.ts';
import type { RefusalRange } from '../domain/group-record.ts';
import type { AuditEntry, AuditRow } from './port.ts';

export interface AuditRecord {
  id: number;
  recorded_at: string;
  stage: string;
  reason: string;
  code: string;
  signing_hash: string | null;
  actor_type: PrincipalType | null;
  actor_id: string | null;
  action_id: string | null;
  group_id: string | null;
  key_id: string | null;
  received_hash: string | null;
  document_kind: string | null;
  document_path: string | null;
  document_hash: string | null;
  document_key_id: string | null;
  caller_type: PrincipalType | null;
  caller_id: string | null;
}

export function auditToRecord(entry: AuditEntry): Omit<AuditRecord, 'id' | 'recorded_at'> {
  return {
    stage: entry.stage,
    reason: entry.reason,
    code: entry.code,
    signing_hash: entry.signingHash ?? null,
    actor_type: entry.actor?.type ?? null,
    actor_id: entry.actor?.id ?? null,
    action_id: entry.actionId ?? null,
    group_id: entry.groupId ?? null,
    key_id: entry.keyId ?? null,
    received_hash: entry.receivedHash ?? null,
    document_kind: entry.documentKind ?? null,
    document_path: entry.documentPath ?? null,
    document_hash: entry.documentHash ?? null,
    document_key_id: entry.documentKeyId ?? null,
    caller_type: entry.caller?.type ?? null,
    caller_id: entry.caller?.id ?? null,
  };
}

export function auditFromRecord(record: AuditRecord): AuditRow {
  const actor = principalOf(record.actor_type, record.actor_id);
  const caller = principalOf(record.caller_type, record.caller_id);
  return {
    id: record.id,
    recordedAt: record.recorded_at,
    stage: record.stage,
    reason: record.reason,
    code: record.code,
    ...(record.signing_hash !== null && { signingHash: record.signing_hash }),
    ...(actor && { actor }),
    ...(record.action_id !== null && { actionId: record.action_id }),
    ...(record.group_id !== null && { groupId: record.group_id }),
    ...(record.key_id !== null && { keyId: record.key_id }),
    ...(record.received_hash !== null && { receivedHash: record.received_hash }),
    ...(record.document_kind !== null && { documentKind: record.document_kind }),
    ...(record.document_path !== null && { documentPath: record.document_path }),
    ...(record.document_hash !== null && { documentHash: record.document_hash }),
    ...(record.document_key_id !== null && { documentKeyId: record.document_key_id }),
    ...(caller && { caller }),
  };
}

/** As an aggregate of a statement gives it; numbers may come as text. */
export interface RangeRecord {
  n: number | string;
  first_id: number | string | null;
  last_id: number | string | null;
}

export function rangeFromRecord(record: RangeRecord | undefined): RefusalRange {
  const { n, first_id, last_id } = record ?? { n: 0, first_id: null, last_id: null };
  if (first_id === null || last_id === null) return { count: 0 };
  return { count: Number(n), firstId: Number(first_id), lastId: Number(last_id) };
}

function principalOf(type: PrincipalType | null, id: string | null): Principal | undefined {
  return type === null || id === null ? undefined : { type, id };
}
