// Hash chains over signing hashes: a removed, added or exchanged row breaks every link after it.
import { sha256Label } from './canonical.ts';

/** Where a chain begins: bound to its tenant and stream, so that no chain can be passed off as another. */
export function chainStart(organizationId: string, streamId: string): string {
  return sha256Label(`mwp-authority chain ${organizationId} ${streamId}`);
}

export function chainNext(previous: string, link: string): string {
  return sha256Label(`${previous} ${link}`);
}
