// What is kept of the protected audit record of an archived Group: that it is to be sealed, then where the sealed bytes lie
// and under which key, then that they are gone. The row stays, so that the numbers of its records are never given again.
import type { OrganizationId } from '../../protocol/ids.ts';

/** Numbers of the records, all of one Group. */
export interface AuditRange {
  groupId: string;
  records: number;
  firstId: number;
  lastId: number;
}

/** What is authenticated with the sealed bytes, beside the Organization. */
export interface SealedRange extends AuditRange {
  format: number;
  /** Of the tenant's key that the data key is wrapped under. */
  keyVersion: number;
  /** Of the last record: from it on the retention of all of them is counted. */
  lastRecordedAt: string;
}

export interface SealedAudit extends SealedRange {
  wrappedKey: string;
  blobHash: string;
}

export interface SealedAuditRow extends SealedAudit {
  sealedAt: string;
}

/** A key of the tenant's own, encrypted under the master key. Without it nothing that is wrapped under it opens again. */
export interface TenantKeyRow {
  /** From 1; the highest one wraps. */
  version: number;
  sealed: string;
}

export interface SealedAuditStore {
  /** Those that wait, by Group, after this one. */
  due(organizationId: OrganizationId, afterGroupId: string, limit: number): Promise<AuditRange[]>;

  /**
   * From here on the sealed bytes are the record: takes the plain ones of its range away, in one transaction. False: it did
   * not wait any more, and nothing changed.
   */
  complete(organizationId: OrganizationId, sealed: SealedAudit): Promise<boolean>;

  /** Sealed ones whose last record is older than this, by Group, after this one. */
  expired(
    organizationId: OrganizationId,
    before: string,
    afterGroupId: string,
    limit: number,
  ): Promise<SealedAuditRow[]>;

  /**
   * Forgets key and address for good; of one that waits, that there was anything to seal. Only what is still as it was found:
   * what waited may have been sealed meanwhile by another process.
   */
  purge(organizationId: OrganizationId, groupId: string, found: 'due' | 'sealed'): Promise<void>;

  /** The latest key; where there is none, `first` makes it version 1, and of two who make it one stands. */
  tenantKey(organizationId: OrganizationId, first: (version: number) => string): Promise<TenantKeyRow>;
}

export interface SealedAuditReader {
  /** Undefined: nothing of this Group is sealed now. */
  sealedAudit(groupId: string): Promise<SealedAuditRow | undefined>;
  tenantKey(version: number): Promise<TenantKeyRow | undefined>;
}
