// Uploads as the tables spell them, and the ruling over a quota. Both engines use the same names. Knows no SQL.
import type { PrincipalType } from '../protocol/principals.ts';
import type { Reservation, Upload, UploadQuota } from './port/uploads.ts';

export interface UploadRecord {
  hash: string;
  principal_type: PrincipalType;
  principal_id: string;
  size: number;
  state: Upload['state'];
}

export function uploadFromRecord(record: UploadRecord): Upload {
  const { hash, size, state, principal_type: type, principal_id: id } = record;
  return { principal: { type, id }, hash, size, state };
}

/** What else the principal has under way or unpublished. */
export interface UploadTotals {
  count: number;
  bytes: number;
}

export function rulingOver(totals: UploadTotals, size: number, quota: UploadQuota): Reservation {
  if (totals.count + 1 > quota.count) return { reserved: false, limit: 'count' };
  if (totals.bytes + size > quota.bytes) return { reserved: false, limit: 'bytes' };
  return { reserved: true };
}
