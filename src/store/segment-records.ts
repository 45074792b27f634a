// Segments as the tables spell them. Both engines use the same names. Knows no SQL.
import type { GroupStanding, SegmentRow } from './port/segments.ts';

export interface SegmentRecord {
  group_id: string;
  position: number;
  first_sequence: number;
  last_sequence: number;
  first_revision: number;
  last_revision: number;
  first_event_id: string;
  last_event_id: string;
  hash: string;
  size: number;
}

export function segmentToRecord(row: SegmentRow): SegmentRecord {
  return {
    group_id: row.groupId,
    position: row.position,
    first_sequence: row.firstSequence,
    last_sequence: row.lastSequence,
    first_revision: row.firstRevision,
    last_revision: row.lastRevision,
    first_event_id: row.firstEventId,
    last_event_id: row.lastEventId,
    hash: row.hash,
    size: row.size,
  };
}

export function segmentFromRecord(record: SegmentRecord): SegmentRow {
  return {
    groupId: record.group_id,
    position: record.position,
    firstSequence: record.first_sequence,
    lastSequence: record.last_sequence,
    firstRevision: record.first_revision,
    lastRevision: record.last_revision,
    firstEventId: record.first_event_id,
    lastEventId: record.last_event_id,
    hash: record.hash,
    size: record.size,
  };
}

export interface StandingRecord {
  group_id: string;
  head_sequence: number;
  sealed_through: number;
  snapshot_through: number;
}

export function standingFromRecord(record: StandingRecord): GroupStanding {
  return {
    groupId: record.group_id,
    headSequence: record.head_sequence,
    sealedThrough: record.sealed_through,
    snapshotThrough: record.snapshot_through,
  };
}

/** The last sequence that one of the limits leaves outside, if it is not sealed; 0 otherwise. */
export function outsideOf(
  { headSequence, sealedThrough }: GroupStanding,
  limits: {
    events: number;
    heavyThrough: number | undefined;
    since: string | undefined;
    /** The first one that is not sealed and not older. */
    firstSince: number | undefined;
  },
): number {
  const { events, heavyThrough = 0, since, firstSince } = limits;
  const oldThrough = since === undefined ? 0 : (firstSince ?? headSequence + 1) - 1;
  const through = Math.max(headSequence - events, heavyThrough, oldThrough);
  return through > sealedThrough ? through : 0;
}
