// What one snapshot says, read in one database snapshot of the Organization: the head, the list of hashes, the documents that
// changed, the policy log since the one before. Never the history.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { GroupSnapshot, PolicyLogEntry } from '../../protocol/documents/group-snapshot.ts';
import { StoreFault, type Reader, type SnapshotRow, type StreamHead } from '../../store/port.ts';
import { linkOf, policyEntryOf, type SnapshotLink, type StatePack } from '../../trust/snapshot-link.ts';
import { stateDocument, type StateDocument } from '../../wire/state-document.ts';
import type { SnapshotBlobs, SnapshotProgress } from './ports.ts';
import { changedSince, haveOutgrown, packBytes, readStateDocument } from './state-packs.ts';

/** Entries that one snapshot repeats; of more than these the last ones, and the chain of the log covers all. */
export const POLICY_ENTRIES_MAXIMUM = 2_000;
const PAGE = 500;

export interface Gathered {
  head: StreamHead;
  previous: SnapshotRow | undefined;
  document: StateDocument;
  packs: StatePack[];
  /** First and last Event, and those of each sealed segment, each once. */
  eventIds: string[];
  policyLog: { after: number; through: number; entries: PolicyLogEntry[] };
}

export interface Gathering {
  organizationId: OrganizationId;
  groupId: string;
  blobs: SnapshotBlobs;
  progress: ((made: SnapshotProgress) => void) | undefined;
}

/** A row: nothing was accepted since. Undefined: no such Group. */
export async function gather(
  reader: Reader,
  { organizationId, groupId, blobs, progress }: Gathering,
): Promise<Gathered | SnapshotRow | undefined> {
  const head = await reader.stream(groupId);
  if (!head) return undefined;
  const previous = await reader.latestSnapshot(groupId);
  if (previous?.throughSequence === head.position) return previous;
  const document = stateDocument(organizationId, groupId, await reader.aggregateHashes(groupId));
  const link = previous && linkIn(previous);
  const before = link && (await stateBefore(previous, link, organizationId, blobs));
  const changed = before ? changedSince(before.aggregates, document.aggregates) : document.aggregates;
  const kept = before?.packs ?? [];
  if (changed.length > 0) {
    let packed = 0;
    const bytes = packBytes(changed, reader, (documents) => {
      packed += documents;
      progress?.({ packed, total: changed.length });
    });
    const { hash, size } = await blobs.put(organizationId, bytes);
    kept.push({ hash, documents: changed.length, bytes: size });
  }
  const policyLog = await policyEntries(reader, head, link?.policyLog.through ?? 0);
  return { head, previous, document, packs: kept, eventIds: await eventIds(reader, head), policyLog };
}

/** Undefined: the next one starts anew, because the packs outgrew their first or what they need cannot be read. */
async function stateBefore(
  { stateHash }: SnapshotRow,
  { statePacks: packs }: SnapshotLink,
  organizationId: OrganizationId,
  blobs: SnapshotBlobs,
): Promise<{ aggregates: StateDocument['aggregates']; packs: StatePack[] } | undefined> {
  if (haveOutgrown(packs)) return undefined;
  for (const { hash } of packs) if ((await blobs.size(organizationId, hash)) === undefined) return undefined;
  const document = await readStateDocument(blobs, organizationId, stateHash);
  return document && { aggregates: document.aggregates, packs };
}

/** Throws where a row of ours holds anything else than a snapshot of ours. */
export function linkIn({ body, snapshotId }: SnapshotRow): SnapshotLink {
  const link = linkOf(JSON.parse(body) as GroupSnapshot);
  if (!link) throw new StoreFault('corrupt', `group_snapshots: ${snapshotId} has no link`);
  return link;
}

async function policyEntries(reader: Reader, head: StreamHead, covered: number): Promise<Gathered['policyLog']> {
  const through = head.policyPosition;
  const after = Math.max(covered, through - POLICY_ENTRIES_MAXIMUM);
  const entries: PolicyLogEntry[] = [];
  for (let at = after; at < through; at += PAGE) {
    const page = await reader.policyLog(head.streamId, at, PAGE);
    entries.push(...page.map(policyEntryOf));
  }
  return { after, through, entries };
}

/** The first and the last of each sealed segment, and of the Group. */
async function eventIds(reader: Reader, { streamId, position }: StreamHead): Promise<string[]> {
  const first = await reader.eventAt(streamId, 1);
  const last = await reader.eventAt(streamId, position);
  if (!first || !last) throw new StoreFault('corrupt', `events: ${streamId} has no first or no last`);
  const ids = [first.eventId];
  for (let at = 1; ;) {
    const page = await reader.segmentsFrom(streamId, at, PAGE);
    for (const { firstEventId, lastEventId, lastSequence } of page) {
      ids.push(firstEventId, lastEventId);
      at = lastSequence + 1;
    }
    if (page.length < PAGE) break;
  }
  return [...new Set([...ids, last.eventId])];
}
