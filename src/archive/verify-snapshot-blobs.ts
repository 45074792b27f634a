// The bytes that a snapshot names: there, what their address says, and together the state that was signed.
import { createHash } from 'node:crypto';
import type { OrganizationId } from '../protocol/ids.ts';
import type { SnapshotRow } from '../store/port.ts';
import type { SnapshotLink } from '../trust/snapshot-link.ts';
import { stateHash } from '../wire/state-document.ts';
import type { Findings } from './findings.ts';
import type { SnapshotBlobs } from './snapshot/ports.ts';
import { readStateDocument, stateOf } from './snapshot/state-packs.ts';

export interface BlobsToCheck {
  organizationId: OrganizationId;
  blobs: SnapshotBlobs;
  /** Addresses that were read through: later snapshots name the packs of earlier ones. */
  seen: Set<string>;
}

export async function checkSnapshotBlobs(
  row: SnapshotRow,
  { statePacks }: SnapshotLink,
  { organizationId, blobs, seen }: BlobsToCheck,
  findings: Findings,
): Promise<void> {
  const where = `group_snapshots: position ${row.position}`;
  const addresses = [row.artifactHash, row.stateHash, ...statePacks.map(({ hash }) => hash)];
  let isWhole = true;
  for (const address of addresses) {
    if (seen.has(address)) continue;
    seen.add(address);
    const fault = await faultOf(organizationId, address, blobs);
    if (fault === undefined) continue;
    isWhole = false;
    findings.fault(`${where}: the blob ${address} ${fault}`);
  }
  if (!isWhole) return;
  try {
    const document = await readStateDocument(blobs, organizationId, row.stateHash);
    if (!document || stateHash(document) !== row.stateHash) return findings.fault(`${where}: no state document`);
    const open = (hash: string) => blobs.get(organizationId, hash);
    for await (const _ of stateOf(document, statePacks, open));
  } catch (error) {
    findings.fault(`${where}: its state cannot be put together: ${(error as Error).message}`);
  }
}

async function faultOf(
  organizationId: OrganizationId,
  address: string,
  blobs: SnapshotBlobs,
): Promise<string | undefined> {
  try {
    const bytes = await blobs.get(organizationId, address);
    if (!bytes) return 'is gone';
    const hash = createHash('sha256');
    for await (const chunk of bytes) hash.update(chunk);
    return `sha256:${hash.digest('hex')}` === address ? undefined : 'is not what its address says';
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}
