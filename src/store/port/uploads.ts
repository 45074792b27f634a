// Who put which content, for a while: what a caller is told of its own uploads, and what it may still put, comes from
// these rows of its own and from nothing that anybody else did.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { Principal } from '../../protocol/principals.ts';
import type { BlobStore } from './blobs.ts';

/** An upload that its uploader has not published by then is forgotten, and so are bytes that no manifest names. */
export const UPLOAD_KEPT_MILLISECONDS = 24 * 3_600_000;
/** Uploads that one sweep looks at: it runs beside a request that somebody waits for. */
export const UPLOADS_SWEPT_AT_ONCE = 20;

export interface UploadKey {
  principal: Principal;
  /** `sha256:…` */
  hash: string;
}

export interface Upload extends UploadKey {
  /** Bytes; of a reserved one, what it may become. */
  size: number;
  /**
   * `reserved`: its bytes are on their way, or never came. `complete`: they are stored. `published`: a manifest of the
   * uploader's own names them, so it counts no more and stays. Others' manifests change nothing here, or the uploader could
   * tell from its quota what they published.
   */
  state: 'reserved' | 'complete' | 'published';
}

/** Of one principal's uploads that it has not published. */
export interface UploadQuota {
  count: number;
  bytes: number;
}

export type Reservation = { reserved: true } | { reserved: false; limit: keyof UploadQuota };

export interface UploadStore {
  /** Before the first byte. What the caller put before, and was counted then, is not counted again. */
  reserve(
    organizationId: OrganizationId,
    upload: UploadKey & { size: number },
    quota: UploadQuota,
  ): Promise<Reservation>;

  /** When the bytes are stored. `again`: the caller had put them before. */
  complete(organizationId: OrganizationId, upload: UploadKey & { size: number }): Promise<'first' | 'again'>;

  /** The bytes did not come. What was complete before stays so. */
  release(organizationId: OrganizationId, upload: UploadKey): Promise<void>;

  /**
   * Forgets uploads that are over, UPLOADS_SWEPT_AT_ONCE at most, and removes from `blobs` each content that neither a manifest
   * nor another upload names. Nobody of this Organization reserves meanwhile, so nothing is removed that comes again. Where
   * `blobs` are in this very database, both are one transaction.
   */
  sweep(organizationId: OrganizationId, blobs: Pick<BlobStore, 'remove'>): Promise<void>;
}
