// What stands of a Group beside its aggregates, as far as its archival is decided on it. Read under the locks, and for that
// Command alone: the hashes of a whole Group are nothing that every Command should pay for.
import type { PolicyLogEntry } from '../protocol/documents/group-snapshot.ts';

export interface GroupRecord {
  lastEventAt: string;
  /** Entries in the policy log. */
  policyPosition: number;
  /** Of the aggregates as they are stored now. */
  stateHash: string;
  /** The latest one of this Group; absent: none was ever taken. */
  snapshot?: RecordedSnapshot;
  /** Those that the latest snapshot says that it repeats, as the log has them. */
  policyLog: PolicyLogEntry[];
  /** Refused Commands about this Group in the protected audit record. */
  refusals: RefusalRange;
}

export interface RecordedSnapshot {
  snapshotId: string;
  signingHash: string;
  /** Position of the last policy entry that it covers. */
  policyThrough: number;
}

/** Numbers of records, which say nothing to who may not read them (MWP-SDV-018d). */
export interface RefusalRange {
  count: number;
  firstId?: number;
  lastId?: number;
}
