// What holds erased words beside the rows once these have let go: segments from before, and blobs of segments that no row ever
// named, left by whoever ended while sealing. None of them can be named any more: the words are no longer where they were
// taken from, and the transaction that would name the blob counts them.
import type { OrganizationId } from '../../protocol/ids.ts';
import { BlobFault } from '../../store/port/blobs.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { readSegment, SegmentFault, type UnknownSegment } from '../segments/format.ts';
import type { ErasureBlobs } from './ports.ts';

/** Addresses asked for in one go. */
const PAGE = 1_000;

export interface ErasedKeys {
  groupId: string;
  /** Sequences. */
  events: ReadonlySet<number>;
  /** Signing hashes. */
  commands: ReadonlySet<string>;
}

/** Throws BlobFault and StoreFault; safe to begin again. */
export async function removeLeftovers(
  { store, blobs }: { store: Pick<AuthorityStore, 'erasures'>; blobs: ErasureBlobs },
  organizationId: OrganizationId,
  { before, erased }: { before: readonly string[]; erased: ErasedKeys },
): Promise<void> {
  const named = new Set(await store.erasures.sealedAt(organizationId, [...before]));
  for (const hash of before) if (!named.has(hash)) await blobs.remove(organizationId, hash);
  for (const hash of await unnamed({ store, blobs }, organizationId))
    if (await holdsAny(blobs, organizationId, hash, erased)) await blobs.remove(organizationId, hash);
  // Also what somebody is putting just now: it may be a segment that still has the words, and is put again without.
  await blobs.clearIncoming(organizationId);
}

async function unnamed(
  { store, blobs }: { store: Pick<AuthorityStore, 'erasures'>; blobs: ErasureBlobs },
  organizationId: OrganizationId,
): Promise<string[]> {
  const all = await blobs.hashes(organizationId);
  const found: string[] = [];
  for (let at = 0; at < all.length; at += PAGE) {
    const page = all.slice(at, at + PAGE);
    const named = new Set(await store.erasures.sealedAt(organizationId, page));
    found.push(...page.filter((hash) => !named.has(hash)));
  }
  return found;
}

/** What cannot be read as a segment is none that a row will name: each is read once before its row is written. */
async function holdsAny(
  blobs: ErasureBlobs,
  organizationId: OrganizationId,
  hash: string,
  { groupId, events, commands }: ErasedKeys,
): Promise<boolean> {
  let segment: UnknownSegment;
  try {
    const bytes = await blobs.get(organizationId, hash);
    if (!bytes) return false;
    segment = await readSegment(bytes);
  } catch (error) {
    if (error instanceof SegmentFault || (error instanceof BlobFault && error.kind === 'corrupt')) return true;
    throw error;
  }
  if (segment.groupId !== groupId) return false;
  const { bodies } = segment;
  return (
    [...bodies.events.keys()].some((sequence) => events.has(sequence)) ||
    [...bodies.commands.keys()].some((signingHash) => commands.has(signingHash))
  );
}
