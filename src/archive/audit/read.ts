// The audit of one Group for an auditor, sealed or not: sealed records come first, because all later ones have higher numbers.
import { buffer } from 'node:stream/consumers';
import type { OrganizationId } from '../../protocol/ids.ts';
import { BlobFault } from '../../store/port/blobs.ts';
import type { SealedAuditRow } from '../../store/port/sealed-audits.ts';
import type { AuditRow, Reader } from '../../store/port.ts';
import { openRecords } from './envelope.ts';
import { SealFault, type AuditBlobs, type TenantKeyVault } from './ports.ts';
import { openTenantKey } from './tenant-key.ts';

export interface SealedAuditParts {
  blobs: Pick<AuditBlobs, 'get'>;
  vault: Pick<TenantKeyVault, 'open'>;
}

type AuditReader = Pick<Reader, 'audit' | 'sealedAudit' | 'tenantKey'>;

/** By number, strictly after `afterId`. Throws SealFault rather than leaving anything out. */
export async function auditOfGroup(
  reader: AuditReader,
  { organizationId, groupId }: { organizationId: OrganizationId; groupId: string },
  { afterId, limit }: { afterId: number; limit: number },
  parts: SealedAuditParts,
): Promise<AuditRow[]> {
  const sealed = await reader.sealedAudit(groupId);
  // The usual page of a reader who is past it opens nothing.
  const earlier = sealed && afterId < sealed.lastId ? await open(reader, organizationId, sealed, parts) : [];
  const rows = earlier.filter(({ id }) => id > afterId).slice(0, limit);
  if (rows.length === limit) return rows;
  const after = rows.at(-1)?.id ?? afterId;
  return [...rows, ...(await reader.audit(after, limit - rows.length, groupId))];
}

async function open(
  reader: Pick<Reader, 'tenantKey'>,
  organizationId: OrganizationId,
  sealed: SealedAuditRow,
  { blobs, vault }: SealedAuditParts,
): Promise<AuditRow[]> {
  const { groupId, blobHash, wrappedKey, keyVersion } = sealed;
  const row = await reader.tenantKey(keyVersion);
  if (!row) throw new SealFault('key', groupId, `is under the tenant key ${keyVersion}, which is not there`);
  let key: Uint8Array;
  try {
    key = openTenantKey(vault, organizationId, row);
  } catch (cause) {
    throw new SealFault('key', groupId, `is under the tenant key ${keyVersion}, which does not open`, { cause });
  }
  const bytes = await bytesOf(organizationId, groupId, blobHash, blobs);
  return openRecords(bytes, wrappedKey, { ...sealed, organizationId }, key);
}

async function bytesOf(
  organizationId: OrganizationId,
  groupId: string,
  blobHash: string,
  blobs: Pick<AuditBlobs, 'get'>,
): Promise<Uint8Array> {
  try {
    const found = await blobs.get(organizationId, blobHash);
    if (!found) throw new SealFault('gone', groupId, `is not there: no blob ${blobHash}`);
    return await buffer(found);
  } catch (cause) {
    if (!(cause instanceof BlobFault) || cause.kind === 'unavailable') throw cause;
    throw new SealFault('altered', groupId, `is not what its address says`, { cause });
  }
}
