// Bytes that only older snapshots name. Their signed documents stay, as rows do; what state they were of can be had from a later
// one, or from the history.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { AuthorityStore, SnapshotRow } from '../../store/port.ts';
import type { StatePack } from '../../trust/snapshot-link.ts';
import type { SnapshotBlobs } from './ports.ts';

/** The last ones, whose state can be restored: who began with one has the time of two more. */
export const SNAPSHOTS_KEPT = 3;

/** May its bytes be gone? */
export function isOutdated({ position }: SnapshotRow, latest: SnapshotRow | undefined): boolean {
  return position <= (latest?.position ?? 0) - SNAPSHOTS_KEPT;
}

/** What only the first one that is no longer kept names: each snapshot that is taken has one follow it out. */
export async function removeOutdated(
  store: Pick<AuthorityStore, 'read'>,
  blobs: SnapshotBlobs,
  organizationId: OrganizationId,
  groupId: string,
): Promise<void> {
  const [outdated, ...kept] = await store.read(organizationId, async (reader) => {
    const latest = await reader.latestSnapshot(groupId);
    const after = (latest?.position ?? 0) - SNAPSHOTS_KEPT - 1;
    return after < 0 ? [] : reader.snapshots(groupId, after, SNAPSHOTS_KEPT + 1);
  });
  if (!outdated) return;
  const needed = new Set(kept.flatMap(addressesOf));
  for (const address of addressesOf(outdated)) if (!needed.has(address)) await blobs.remove(organizationId, address);
}

function addressesOf({ artifactHash, stateHash, packs }: SnapshotRow): string[] {
  return [artifactHash, stateHash, ...(JSON.parse(packs) as StatePack[]).map(({ hash }) => hash)];
}
