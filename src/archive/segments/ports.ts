// What sealing and reading sealed segments need of the outside beside the store.
import type { BlobStore } from '../../store/port/blobs.ts';

/** A place of its own, as that of snapshots is (decision 26). */
export type SegmentBlobs = Pick<BlobStore, 'put' | 'get' | 'remove'>;
