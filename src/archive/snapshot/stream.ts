// The state behind a snapshot as a stream of lines: a header, then each aggregate once. Reads blobs alone, so no database
// transaction stays open for a slow client; what is wrong breaks the stream off before its end.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { SnapshotRow } from '../../store/port.ts';
import { lineText } from '../../wire/state-lines.ts';
import type { SnapshotBlobs } from './ports.ts';
import { linkIn } from './gather.ts';
import { PackFault, readStateDocument, stateOf } from './state-packs.ts';

export async function* stateStream(
  row: SnapshotRow,
  organizationId: OrganizationId,
  blobs: SnapshotBlobs,
): AsyncGenerator<string> {
  const { groupId, throughSequence, stateHash } = row;
  const document = await readStateDocument(blobs, organizationId, stateHash);
  if (!document) throw new PackFault(`the state document ${stateHash} is gone`);
  const { format, aggregates } = document;
  yield lineText({ format, organizationId, groupId, throughSequence, stateHash, aggregates: aggregates.length });
  const open = (hash: string) => blobs.get(organizationId, hash);
  for await (const { kind, id, document: told } of stateOf(document, linkIn(row).statePacks, open)) {
    yield lineText({ kind, id, document: told });
  }
}
