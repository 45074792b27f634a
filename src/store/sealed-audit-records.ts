// Sealed audits and tenant keys as the tables spell them. Both engines use the same names. Knows no SQL.
import type { AuditRange, SealedAudit, SealedAuditRow, TenantKeyRow } from './port/sealed-audits.ts';

export interface AuditRangeRecord {
  group_id: string;
  records: number;
  first_id: number;
  last_id: number;
}

export interface SealedAuditRecord extends AuditRangeRecord {
  format: number;
  key_version: number;
  wrapped_key: string;
  blob_hash: string;
  last_recorded_at: string;
  sealed_at: string;
}

export interface TenantKeyRecord {
  version: number;
  sealed: string;
}

export function rangeToRecord({ groupId, records, firstId, lastId }: AuditRange): AuditRangeRecord {
  return { group_id: groupId, records, first_id: firstId, last_id: lastId };
}

export function auditRangeFromRecord(record: AuditRangeRecord): AuditRange {
  const { group_id, records, first_id, last_id } = record;
  return { groupId: group_id, records, firstId: first_id, lastId: last_id };
}

export function sealedToRecord(sealed: SealedAudit): Omit<SealedAuditRecord, 'sealed_at'> {
  return {
    ...rangeToRecord(sealed),
    format: sealed.format,
    key_version: sealed.keyVersion,
    wrapped_key: sealed.wrappedKey,
    blob_hash: sealed.blobHash,
    last_recorded_at: sealed.lastRecordedAt,
  };
}

export function sealedFromRecord(record: SealedAuditRecord): SealedAuditRow {
  return {
    ...auditRangeFromRecord(record),
    format: record.format,
    keyVersion: record.key_version,
    wrappedKey: record.wrapped_key,
    blobHash: record.blob_hash,
    lastRecordedAt: record.last_recorded_at,
    sealedAt: record.sealed_at,
  };
}

export function tenantKeyFromRecord({ version, sealed }: TenantKeyRecord): TenantKeyRow {
  return { version, sealed };
}
