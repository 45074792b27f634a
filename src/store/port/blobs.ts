// Bytes by their hash: contents of Artifacts, and what is taken out of the database or made from it. A port of its own: it is
// never part of an acceptance, and what a row names is stored before that row is written.
import type { OrganizationId } from '../../protocol/ids.ts';

/** Blobs of two spaces never meet, whatever their bytes (decision 26). */
export type BlobSpace = 'contents' | 'snapshots' | 'segments' | 'audits';

/** What is still incoming after this was left by a process that ended: no source may take that long. Milliseconds. */
export const INCOMING_MAXIMUM_MS = 24 * 3_600_000;

export type BlobFaultKind =
  /** The bytes are not those of the expected hash; nothing was stored. */
  | 'mismatch'
  /** More bytes than were allowed; nothing was stored. */
  | 'too-large'
  /** What is stored is not what its address says. */
  | 'corrupt'
  /** The disk is full, or not there; the database does not answer; the blob was removed while it was read. */
  | 'unavailable';

export class BlobFault extends Error {
  readonly kind: BlobFaultKind;
  constructor(kind: BlobFaultKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'BlobFault';
    this.kind = kind;
  }
}

export interface BlobPutOptions {
  /** `sha256:…`; other bytes are refused. */
  expectedHash?: string;
  /** Refused beyond it, as soon as one byte more has come. */
  bytesMaximum?: number;
}

export interface StoredBlob {
  /** `sha256:` and 64 lower-case hex digits, of the bytes as they came. */
  hash: string;
  size: number;
}

/**
 * Addresses are per Organization: the same bytes of two tenants are two blobs, and neither learns of the other's. A blob is
 * there whole or not at all, whenever a process ends, and once `put` has resolved it survives a power cut. Errors of
 * the source pass through; faults of the store are BlobFaults.
 */
export interface BlobStore {
  /** Reads the source to its end. The same bytes again are no error, also at the same time, and mend a damaged blob. */
  put(organizationId: OrganizationId, bytes: AsyncIterable<Uint8Array>, options?: BlobPutOptions): Promise<StoredBlob>;

  /**
   * Undefined: no such blob. The hash is checked while reading: where it does not hold the stream fails before its last
   * bytes are given, so that nobody takes what came for the whole.
   */
  get(organizationId: OrganizationId, hash: string): Promise<AsyncIterable<Uint8Array> | undefined>;

  /** Bytes that `get` will give; undefined: no such blob. */
  size(organizationId: OrganizationId, hash: string): Promise<number | undefined>;

  /** For good. Safe to call where there is none. */
  remove(organizationId: OrganizationId, hash: string): Promise<void>;

  /** Of every blob of the Organization, in no order. */
  hashes(organizationId: OrganizationId): Promise<string[]>;

  /**
   * Removes what has no name: what ended processes left, what was removed and not cleared yet, and also what is being put just
   * now, whose `put` is then 'unavailable'. Rejects where something stays.
   */
  clearIncoming(organizationId: OrganizationId): Promise<void>;
}
