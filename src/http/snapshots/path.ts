// Where a snapshot is read: said by its own answer and by whoever sends a client there.

/** Below the Organization. */
export function snapshotSubpath(groupId: string, snapshotId: string): string {
  return `/groups/${encodeURIComponent(groupId)}/snapshots/${encodeURIComponent(snapshotId)}`;
}

/** From the root of the service on. */
export function snapshotPath(slug: string, groupId: string, snapshotId: string): string {
  return `/v1/orgs/${slug}${snapshotSubpath(groupId, snapshotId)}`;
}
