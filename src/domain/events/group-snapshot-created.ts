// group.snapshot.created: the snapshot that the Group is archived on. It is about the state and no part of it.
import type { EventKind } from '../decider.ts';

interface GroupSnapshotCreated {
  snapshotId: string;
  throughSequence: number;
  stateHash: string;
  /** Of the signed document's canonical bytes: what a client is told to ask for. */
  snapshotHash: string;
}

export const groupSnapshotCreated: EventKind<GroupSnapshotCreated> = {
  kind: 'group.snapshot.created',
  erasable: [],

  evolve() {},
};
