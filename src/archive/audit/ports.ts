// What sealing the audit of archived Groups needs of the outside beside the store, and what it offers.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { BlobStore } from '../../store/port/blobs.ts';

/** A place of its own: nothing of it can be made again, and nobody but auditors may have it. */
export type AuditBlobs = Pick<BlobStore, 'put' | 'get' | 'remove'>;

/** Seals a tenant's own key under what the service holds; opens it again, or throws. */
export interface TenantKeyVault {
  seal(secret: Uint8Array, place: { organizationId: string; keyId: string }): string;
  open(text: string, place: { organizationId: string; keyId: string }): Uint8Array;
}

export interface AuditSeals {
  /**
   * Seals what waits to be sealed in this Organization, and purges what the policy keeps no longer. Safe at any time, also in
   * two processes at once: what is done already is left as it is. Rejects with the first fault; the rest is still done.
   */
  look(organizationId: OrganizationId): Promise<void>;
  /** Begins a look that nobody waits for; its fault is told. */
  wake(organizationId: OrganizationId): void;
  /** The same for every Organization, one after the other: at a start, for what an earlier process left. */
  wakeAll(): void;
  /** Resolves when none is under way; from then on none is begun. Safe to call twice. */
  stop(): Promise<void>;
}

export type SealFaultKind =
  /** The bytes are not there. */
  | 'gone'
  /** A form that is not known here. */
  | 'format'
  /** Bytes, key or what is said beside them were changed, or belong elsewhere. */
  | 'altered'
  /** The tenant's key is not there, or does not open. */
  | 'key';

/** Nothing of the record is shown. The message is for operators. */
export class SealFault extends Error {
  readonly kind: SealFaultKind;
  constructor(kind: SealFaultKind, groupId: string, message: string, options?: { cause?: unknown }) {
    super(`the sealed audit of ${groupId} ${message}`, options);
    this.name = 'SealFault';
    this.kind = kind;
  }
}
