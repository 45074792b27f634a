// A segment without what is erased: a blob of the same range, stored and read back. The row still names the old one.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { AuthorityStore } from '../../store/port.ts';
import type { TakenBodies } from '../../store/port/erasures.ts';
import { packSegment } from '../segments/format.ts';
import { openStored } from '../segments/opened.ts';
import type { ErasureBlobs } from './ports.ts';
import { documentsIn, documentsInRows, type InSegment } from './whereabouts.ts';

export interface SealedAnew {
  /** Absent: nothing of it was in there any more. */
  segment?: TakenBodies['segments'][number];
  /** Of the Commands in there, the documents whose bodies lie in their rows. */
  documents: string[];
}

/** Throws StoreFault and BlobFault. */
export async function sealAnew(
  { store, blobs }: { store: Pick<AuthorityStore, 'read'>; blobs: ErasureBlobs },
  organizationId: OrganizationId,
  { segment, events, commands }: InSegment,
): Promise<SealedAnew> {
  const bodies = await openStored(blobs, organizationId, segment);
  const documents: string[] = [];
  let isChanged = false;
  for (const sequence of events) isChanged = bodies.events.delete(sequence) || isChanged;
  for (const row of commands) {
    const body = bodies.commands.get(row.signingHash);
    if (body === undefined) continue;
    const command = { ...row, body };
    bodies.commands.delete(row.signingHash);
    isChanged = true;
    documents.push(...(await store.read(organizationId, (reader) => documentsInRows(reader, command))));
    const brought = await store.read(organizationId, (reader) => reader.documents(documentsIn(command)));
    for (const { signingHash, commandHash } of brought)
      if (commandHash === row.signingHash) bodies.documents.delete(signingHash);
  }
  if (!isChanged) return { documents };
  const packed = await packSegment(organizationId, segment, bodies);
  const { hash, size } = await blobs.put(organizationId, once(packed));
  const anew = { ...segment, hash, size };
  await openStored(blobs, organizationId, anew);
  return { documents, segment: { position: segment.position, before: segment.hash, hash, size } };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
