// Takes snapshots, one at a time in this process: gather in one database snapshot, store the blobs, sign, and only then write
// the row that names them. The one door of this folder.
import { randomUUID } from 'node:crypto';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import { passUnwatched, type AuthorityStore, type OrganizationRow, type PassPoint } from '../../store/port.ts';
import { canonicalBytes } from '../../wire/canonical.ts';
import { gather } from './gather.ts';
import {
  SnapshotsBusy,
  type SnapshotBlobs,
  type SnapshotProgress,
  type Snapshots,
  type SnapshotSigners,
  type TakenSnapshot,
} from './ports.ts';
import { signSnapshot } from './sign.ts';

/** Of one Organization, the one under way included: a tenant cannot fill the row for all others. */
const WAITING_MAXIMUM = 8;

export interface SnapshotParts {
  store: AuthorityStore;
  blobs: SnapshotBlobs;
  signers: SnapshotSigners;
  /** A fresh `urn:uuid:` id. */
  newId?: () => string;
  pass?: PassPoint;
}

export function createSnapshots(parts: SnapshotParts): Snapshots {
  return new SnapshotTaker(parts);
}

class SnapshotTaker implements Snapshots {
  private readonly parts: SnapshotParts;
  private readonly newId: () => string;
  private readonly waiting = new Map<string, number>();
  private last: Promise<unknown> = Promise.resolve();
  private stopped = false;

  constructor(parts: SnapshotParts) {
    this.parts = parts;
    this.newId = parts.newId ?? (() => `urn:uuid:${randomUUID()}`);
  }

  async takeSnapshot(
    organization: OrganizationRow,
    groupId: string,
    progress?: (made: SnapshotProgress) => void,
  ): Promise<TakenSnapshot | undefined> {
    const { organizationId } = organization;
    const waiting = this.waiting.get(organizationId) ?? 0;
    if (this.stopped || waiting >= WAITING_MAXIMUM) throw new SnapshotsBusy();
    this.waiting.set(organizationId, waiting + 1);
    const turn = this.last.then(() => {
      if (this.stopped) throw new SnapshotsBusy();
      return this.take(organization, groupId, progress);
    });
    this.last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      const left = (this.waiting.get(organizationId) ?? 1) - 1;
      if (left === 0) this.waiting.delete(organizationId);
      else this.waiting.set(organizationId, left);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.last;
  }

  private async take(
    organization: OrganizationRow,
    groupId: string,
    progress: ((made: SnapshotProgress) => void) | undefined,
  ): Promise<TakenSnapshot | undefined> {
    const { store, blobs, signers, pass = passUnwatched } = this.parts;
    const { organizationId, authority } = organization;
    const gathered = await store.read(organizationId, (reader) =>
      gather(reader, { organizationId, groupId, blobs, progress }),
    );
    if (!gathered) return undefined;
    if ('body' in gathered) return { row: gathered, isNew: false };
    // What a row names is there before the row is.
    await blobs.put(organizationId, once(canonicalBytes(gathered.document)));
    const { organizations } = store;
    const createdAt = laterOf(await organizations.now(), gathered.head.lastEventAt);
    const signer = await signers.signerOf(organization, authority, createdAt);
    const { row, admission } = await signSnapshot(organization, gathered, {
      organizations,
      signer,
      createdAt,
      newId: this.newId,
    });
    await blobs.put(organizationId, once(Buffer.from(row.body, 'utf8')));
    pass('snapshot-stored');
    const stands = await store.recordSnapshot(organizationId, row, admission);
    pass('snapshot-recorded');
    return { row: stands, isNew: stands.snapshotId === row.snapshotId };
  }
}

/** A clock that was set back makes no snapshot older than what it tells of. */
function laterOf(now: string, lastEventAt: string): string {
  return compareTimestamps(now, lastEventAt) < 0 ? lastEventAt : now;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
