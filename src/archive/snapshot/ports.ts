// What taking a snapshot needs of the outside beside the store, and what it offers.
import type { Principal } from '../../protocol/principals.ts';
import type { BlobStore } from '../../store/port/blobs.ts';
import type { OrganizationRow, SnapshotRow } from '../../store/port.ts';
import type { Signer } from '../../trust/signing.ts';

/**
 * A place of its own: content that members upload may be the same bytes, and is read and removed by other rules than what
 * the authority signed for.
 */
export type SnapshotBlobs = Pick<BlobStore, 'put' | 'get' | 'size' | 'remove'>;

export interface SnapshotSigners {
  /** Of the service's key that counts at this time. */
  signerOf(organization: OrganizationRow, service: Principal, time: string): Promise<Signer>;
}

export interface SnapshotProgress {
  /** Aggregates that went into the new pack so far, of so many. */
  packed: number;
  total: number;
}

export interface Snapshots {
  /**
   * The Group as it stands at its head, or the latest snapshot if nothing was accepted since. Undefined: no such Group.
   * Rejects with SnapshotsBusy where this Organization waits for too many already. One at a time per process.
   */
  takeSnapshot(
    organization: OrganizationRow,
    groupId: string,
    progress?: (made: SnapshotProgress) => void,
  ): Promise<TakenSnapshot | undefined>;
  /** Resolves when none is under way; from then on none is begun. Safe to call twice. */
  stop(): Promise<void>;
}

export interface TakenSnapshot {
  row: SnapshotRow;
  /** False: it stood already, or another process was first. */
  isNew: boolean;
}

export class SnapshotsBusy extends Error {
  constructor() {
    super('too many snapshots of this Organization are waiting');
    this.name = 'SnapshotsBusy';
  }
}
