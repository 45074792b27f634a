// Archives a Group of a Tenant as its service would: a snapshot first, then the Command that brings it.
import type { SnapshotBlobs } from '../../src/archive/snapshot/ports.ts';
import type { SnapshotRow } from '../../src/store/port.ts';
import type { CommandDraft } from '../../src/worker/commands.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { ARCHIVE } from './archival.ts';
import type { Mission } from './mission.ts';
import { snapshotsOf } from './snapshots.ts';
import type { Tenant } from './tenant.ts';

export function archivistOf(tenant: Tenant): Promise<ActorKey> {
  return tenant.service('archivist', [ARCHIVE]);
}

export async function snapshotFor(tenant: Tenant, groupId: string, blobs: SnapshotBlobs): Promise<SnapshotRow> {
  const taken = await snapshotsOf(tenant, blobs).takeSnapshot(tenant.organization, groupId);
  if (!taken) throw new Error('no such Group');
  return taken.row;
}

export function archiveDraft({ groupId, body }: Pick<SnapshotRow, 'groupId' | 'body'>): CommandDraft {
  return { kind: ARCHIVE, groupId, payload: { snapshot: JSON.parse(body) as object } };
}

export async function archiveGroup(
  tenant: Tenant,
  { groupId }: Pick<Mission, 'groupId'>,
  archivist: ActorKey,
  blobs: SnapshotBlobs,
) {
  const row = await snapshotFor(tenant, groupId, blobs);
  return { row, ...(await tenant.accept(archivist, archiveDraft(row))) };
}
