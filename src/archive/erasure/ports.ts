// What destroying erased bodies needs of the outside beside the store.
import type { OrganizationRow } from '../../store/port.ts';
import type { BlobStore } from '../../store/port/blobs.ts';
import type { WithheldRow } from '../../store/port/withheld.ts';

/** Of segments. */
export type ErasureBlobs = Pick<BlobStore, 'put' | 'get' | 'remove' | 'hashes' | 'clearIncoming'>;

export interface Renderer {
  /** Those that are there already stay. Throws where one cannot be made. */
  make(organization: OrganizationRow, marks: readonly WithheldRow[]): Promise<void>;
}
