// Sealed segments: bodies of a Group's older Events, and of the Commands and documents that they came with, lie compressed
// in a blob, and their rows keep everything else. What is sealed is still the history; only its place is another.
import type { OrganizationId } from '../../protocol/ids.ts';

/** Whole transitions of one Group, without a gap after the segment before. */
export interface SegmentRow {
  groupId: string;
  /** From 1, without gaps, per Group. */
  position: number;
  firstSequence: number;
  lastSequence: number;
  /** The Group revisions of its first and last transition. */
  firstRevision: number;
  lastRevision: number;
  firstEventId: string;
  lastEventId: string;
  /** Of the blob. It is the one thing that changes, with `size`: an erasure seals the same range anew. */
  hash: string;
  /** Bytes of the blob. */
  size: number;
}

/** What a segment holds bodies of. A Command and its documents are where the Group has their admission record. */
export interface SealedBodies {
  events: number;
  /** Signing hashes. */
  commands: string[];
  documents: string[];
}

/** How far a Group is, for who looks after it. */
export interface GroupStanding {
  groupId: string;
  headSequence: number;
  /** Last sequence in a segment; 0: none is sealed. */
  sealedThrough: number;
  /** Of the latest snapshot; 0: there is none. */
  snapshotThrough: number;
}

export interface SegmentStore {
  /**
   * Writes the row and takes the bodies out, both or neither. False: somebody sealed there first, or one of the bodies was
   * taken out since it was read, and nothing is written. The blob is stored before.
   */
  seal(organizationId: OrganizationId, segment: SegmentRow, bodies: SealedBodies): Promise<boolean>;

  /** By Group id, for a walk over all Groups of an Organization. */
  standings(organizationId: OrganizationId, afterGroupId: string, limit: number): Promise<GroupStanding[]>;

  /** Undefined: no such Group. */
  standing(organizationId: OrganizationId, groupId: string): Promise<GroupStanding | undefined>;

  /**
   * The last sequence that is older than the window allows: more Events come after it, or more bytes of their bodies, or
   * it was accepted before that time. Only what is not sealed is looked at; 0 where nothing is too old.
   */
  outsideWindow(organizationId: OrganizationId, groupId: string, window: Window): Promise<number>;
}

/** All that is allowed. */
export interface Window {
  events: number;
  bytes?: number;
  /** A time. */
  since?: string;
}

/** What a Reader knows of segments. */
export interface SegmentReader {
  /** Those that end at this sequence or later, by position. */
  segmentsFrom(groupId: string, sequence: number, limit: number): Promise<SegmentRow[]>;
  /** That holds this Group revision. */
  segmentOfRevision(groupId: string, revision: number): Promise<SegmentRow | undefined>;
  segmentAt(groupId: string, position: number): Promise<SegmentRow | undefined>;
  latestSegment(groupId: string): Promise<SegmentRow | undefined>;
}
