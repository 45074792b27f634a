// Blobs in a database, whichever it is: pieces under a draft that nobody finds, and at last its name. What an adapter must do
// for it is BlobRows; no step of a put or a get lasts longer than one piece takes, however slow the other side is.
import { createHash, randomUUID } from 'node:crypto';
import type { OrganizationId } from '../protocol/ids.ts';
import { StoreFault } from './port.ts';
import { BlobFault, type BlobPutOptions, type BlobSpace, type BlobStore, type StoredBlob } from './port/blobs.ts';

/** Bytes that are in memory of one blob, a small number of times. Readers go by what is stored, so it may change. */
export const PIECE_BYTES = 262_144;
/** Removed in one transaction: 8 MiB, so that nobody waits long for the write lock of SQLite. */
export const PIECES_CLEARED_AT_ONCE = 32;
/** Such transactions on the way of one put: the largest content that there can be. The next put goes on. */
const CLEARINGS_MAXIMUM = 64;
const HASH = /^sha256:[0-9a-f]{64}$/;

/** What is being put, before it has a name. */
export interface Draft {
  organizationId: OrganizationId;
  space: BlobSpace;
  blobId: string;
}

export interface BlobAddress {
  organizationId: OrganizationId;
  space: BlobSpace;
  hash: string;
}

/** Each call is one short transaction. They throw StoreFaults, and BlobFaults where it says so. */
export interface BlobRows {
  /** Kept for INCOMING_MAXIMUM_MS. Need not survive a power cut before `name` does, as `append`. */
  begin(draft: Draft): Promise<void>;
  append(draft: Draft, byteOffset: number, bytes: Uint8Array): Promise<void>;
  /**
   * The draft is the blob at this address from now on, in place of what was there. BlobFault 'unavailable' unless all of
   * `size` is there: of what survived no crash, the end may be there without the middle.
   */
  name(draft: Draft, stored: StoredBlob): Promise<void>;
  /** May be cleared at once. */
  giveUp(draft: Draft): Promise<void>;
  /** The bytes that begin there, of the blob that has this address now. */
  piece(address: BlobAddress, byteOffset: number): Promise<{ size: number; bytes: Uint8Array | undefined } | undefined>;
  size(address: BlobAddress): Promise<number | undefined>;
  /** Nobody finds it any more; its pieces may be cleared at once. */
  unname(address: BlobAddress): Promise<void>;
  hashes(organizationId: OrganizationId, space: BlobSpace): Promise<string[]>;
  /** All drafts of the Organization may be cleared at once. */
  giveUpAll(organizationId: OrganizationId, space: BlobSpace): Promise<void>;
  /** Removes PIECES_CLEARED_AT_ONCE of what is not kept any more; false where there is nothing left. */
  clear(organizationId: OrganizationId, space: BlobSpace): Promise<boolean>;
}

export class DatabaseBlobs implements BlobStore {
  readonly rows: BlobRows;
  readonly space: BlobSpace;

  constructor(rows: BlobRows, space: BlobSpace) {
    this.rows = rows;
    this.space = space;
  }

  async put(
    organizationId: OrganizationId,
    bytes: AsyncIterable<Uint8Array>,
    options: BlobPutOptions = {},
  ): Promise<StoredBlob> {
    const draft: Draft = { organizationId, space: this.space, blobId: randomUUID() };
    try {
      await reaching(() => this.rows.begin(draft));
      const stored = await this.receive(draft, bytes, options);
      await reaching(() => this.rows.name(draft, stored));
      return stored;
    } catch (error) {
      // The first fault counts; what cannot be given up now is cleared when it is too old.
      await this.rows.giveUp(draft).catch(() => undefined);
      throw error;
    } finally {
      await clearUnnamed(this, organizationId);
    }
  }

  async get(organizationId: OrganizationId, hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await this.size(organizationId, hash)) === undefined
      ? undefined
      : this.checked(this.address(organizationId, hash));
  }

  async size(organizationId: OrganizationId, hash: string): Promise<number | undefined> {
    const address = this.address(organizationId, hash);
    return reaching(() => this.rows.size(address));
  }

  async remove(organizationId: OrganizationId, hash: string): Promise<void> {
    const address = this.address(organizationId, hash);
    await reaching(() => this.rows.unname(address));
    await clearUnnamed(this, organizationId);
  }

  async hashes(organizationId: OrganizationId): Promise<string[]> {
    return reaching(() => this.rows.hashes(organizationId, this.space));
  }

  async clearIncoming(organizationId: OrganizationId): Promise<void> {
    await reaching(async () => {
      await this.rows.giveUpAll(organizationId, this.space);
      while (await this.rows.clear(organizationId, this.space)) continue;
    });
  }

  /** Into pieces of one size, whatever comes. */
  private async receive(
    draft: Draft,
    bytes: AsyncIterable<Uint8Array>,
    { expectedHash, bytesMaximum }: BlobPutOptions,
  ): Promise<StoredBlob> {
    const digest = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let size = 0;
    let filled = 0;
    const append = () => reaching(() => this.rows.append(draft, size - filled, piece.subarray(0, filled)));
    for await (const chunk of bytes) {
      if (bytesMaximum !== undefined && size + chunk.byteLength > bytesMaximum) {
        throw new BlobFault('too-large', `more than ${bytesMaximum} bytes`);
      }
      digest.update(chunk);
      for (let at = 0; at < chunk.byteLength;) {
        const part = chunk.subarray(at, at + PIECE_BYTES - filled);
        piece.set(part, filled);
        at += part.byteLength;
        filled += part.byteLength;
        size += part.byteLength;
        if (filled < PIECE_BYTES) continue;
        await append();
        filled = 0;
      }
    }
    const hash = `sha256:${digest.digest('hex')}`;
    if (expectedHash !== undefined && hash !== expectedHash) {
      throw new BlobFault('mismatch', `the bytes are those of ${hash}`);
    }
    if (filled > 0) await append();
    return { hash, size };
  }

  /**
   * One piece behind: the last goes out when all is right. The same bytes may be put meanwhile and take the place of what is
   * read; the next piece is theirs then, which is the same.
   */
  private async *checked(address: BlobAddress): AsyncGenerator<Uint8Array> {
    const digest = createHash('sha256');
    let held: Uint8Array | undefined;
    for (let at = 0; ;) {
      const piece = await reaching(() => this.rows.piece(address, at));
      if (!piece) throw new BlobFault('unavailable', `${address.hash} was removed while it was read`);
      const { size, bytes } = piece;
      if (bytes) {
        digest.update(bytes);
        if (held) yield held;
        held = bytes;
        at += bytes.byteLength;
      }
      if (at === size) break;
      if (!bytes || at > size) throw new BlobFault('corrupt', `a piece of ${address.hash} is not as it was stored`);
    }
    if (`sha256:${digest.digest('hex')}` !== address.hash) {
      throw new BlobFault('corrupt', `what lies at ${address.hash} is not that`);
    }
    if (held) yield held;
  }

  private address(organizationId: OrganizationId, hash: string): BlobAddress {
    if (!HASH.test(hash)) throw new BlobFault('mismatch', 'an address is sha256: and 64 hex digits');
    return { organizationId, space: this.space, hash };
  }
}

/** Nobody waits for its outcome: what stays goes with the next put of this Organization. */
export async function clearUnnamed({ rows, space }: DatabaseBlobs, organizationId: OrganizationId): Promise<void> {
  try {
    for (let times = 0; times < CLEARINGS_MAXIMUM; times += 1) {
      if (!(await rows.clear(organizationId, space))) return;
    }
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
  }
}

export function incomplete(): BlobFault {
  return new BlobFault('unavailable', 'the blobs cannot be reached: pieces were lost while others came');
}

async function reaching<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    throw new BlobFault('unavailable', `the blobs cannot be reached: ${error.message}`, { cause: error });
  }
}
