// Marks and renditions as the tables spell them, for both adapters. Knows no SQL.
import type { WithholdingCause } from '../protocol/documents/rendition.ts';
import type { RenditionRow, WithheldEvent, WithheldRow } from './port/withheld.ts';

export interface WithheldRecord {
  group_id: string;
  position: number;
  event_id: string;
  cause: WithholdingCause;
  reason_code: string;
  ordered_by: string;
  recorded_at: string;
}

export function withheldToRecord(row: WithheldRow): WithheldRecord {
  return {
    group_id: row.groupId,
    position: row.position,
    event_id: row.eventId,
    cause: row.cause,
    reason_code: row.reasonCode,
    ordered_by: row.orderedBy,
    recorded_at: row.recordedAt,
  };
}

function withheldFromRecord(record: WithheldRecord): WithheldRow {
  return {
    groupId: record.group_id,
    position: record.position,
    eventId: record.event_id,
    cause: record.cause,
    reasonCode: record.reason_code,
    orderedBy: record.ordered_by,
    recordedAt: record.recorded_at,
  };
}

/** A mark and the body of its rendition, null where there is none. */
export function withheldEventFromRecord(record: WithheldRecord & { body: string | null }): WithheldEvent {
  const { body } = record;
  return { ...withheldFromRecord(record), ...(body !== null && { rendition: body }) };
}

export interface RenditionRecord {
  group_id: string;
  position: number;
  event_id: string;
  cause: WithholdingCause;
  signing_hash: string;
  key_id: string;
  signed_at: string;
  body: string;
}

export function renditionToRecord(row: RenditionRow): RenditionRecord {
  return {
    group_id: row.groupId,
    position: row.position,
    event_id: row.eventId,
    cause: row.cause,
    signing_hash: row.signingHash,
    key_id: row.keyId,
    signed_at: row.signedAt,
    body: row.body,
  };
}

export function renditionFromRecord(record: RenditionRecord): RenditionRow {
  return {
    groupId: record.group_id,
    position: record.position,
    eventId: record.event_id,
    cause: record.cause,
    signingHash: record.signing_hash,
    keyId: record.key_id,
    signedAt: record.signed_at,
    body: record.body,
  };
}
