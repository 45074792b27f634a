// The bytes that a snapshot names: what their address says, and together the state that was signed. Ones that are gone are
// no fault.
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
  /** Addresses that were read through, and whether they were good: later snapshots name the packs of earlier ones. */
  seen: Map<string, boolean>;
}

/** Answers whether all is there as it should be. */
export async function checkSnapshotBlobs(
  row: SnapshotRow,
  { statePacks }: SnapshotLink,
  { organizationId, blobs, seen }: BlobsToCheck,
  findings: Findings,
): Promise<boolean> {
  const where = `group_snapshots: position ${row.position}`;
  const addresses = [row.artifactHash, row.stateHash, ...statePacks.map(({ hash }) => hash)];
  for (const address of addresses) {
    if (seen.has(address)) continue;
    const fault = await faultOf(organizationId, address, blobs);
    seen.set(address, fault === undefined);
    // Made from the rows, and made again by the next snapshot: a database that was restored without them is whole.
    if (fault === 'gone') findings.note(`${where}: bytes that it names are gone; nobody can restore from it`);
    else if (fault !== undefined) findings.fault(`${where}: the blob ${address} ${fault}`);
  }
  return addresses.every((address) => seen.get(address));
}

/** Of the last one alone: it is what is restored from, and its packs are those of the ones before. */
export async function checkAssembledState(
  row: SnapshotRow,
  { statePacks }: SnapshotLink,
  { organizationId, blobs }: BlobsToCheck,
  findings: Findings,
): Promise<void> {
  const where = `group_snapshots: position ${row.position}`;
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
    if (!bytes) return 'gone';
    const hash = createHash('sha256');
    for await (const chunk of bytes) hash.update(chunk);
    return `sha256:${hash.digest('hex')}` === address ? undefined : 'is not what its address says';
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}
