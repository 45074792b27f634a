// The record of a Group that its archival is decided on (src/domain/group-record.ts), read under the locks of that Command.
import type { Command } from '../domain/decider.ts';
import type { GroupRecord } from '../domain/group-record.ts';
import type { PolicyLogEntry, GroupSnapshot } from '../protocol/documents/group-snapshot.ts';
import { linkOf, policyEntryOf, type SnapshotLink } from '../trust/snapshot-link.ts';
import { stateDocument, stateHash } from '../wire/state-document.ts';
import type { Acceptance, Opened, RecordReader } from '../store/port.ts';

const PAGE = 500;

export async function groupRecord(
  organizationId: string,
  { groupId = '' }: Command,
  { heads }: Pick<Opened, 'heads'>,
  acceptance: Acceptance,
): Promise<GroupRecord> {
  const reader = acceptance.record();
  const head = heads.get(groupId);
  if (!head) throw new Error(`a Group without a stream: ${groupId}`);
  const row = await reader.latestSnapshot(groupId);
  const snapshot = row && (JSON.parse(row.body) as GroupSnapshot);
  const link = snapshot && linkOf(snapshot);
  if (row && !link) throw new Error(`the snapshot ${row.snapshotId} has no link`);
  const hashes = await reader.aggregateHashes(groupId);
  return {
    lastEventAt: head.lastEventAt,
    policyPosition: head.policyPosition,
    stateHash: stateHash(stateDocument(organizationId, groupId, hashes)),
    ...(row &&
      link && {
        snapshot: {
          snapshotId: row.snapshotId,
          signingHash: row.signingHash,
          policyThrough: link.policyLog.through,
        },
      }),
    policyLog: link ? await policyEntries(reader, groupId, link.policyLog) : [],
    refusals: await reader.refusals(groupId),
  };
}

async function policyEntries(
  reader: RecordReader,
  groupId: string,
  { after, through }: SnapshotLink['policyLog'],
): Promise<PolicyLogEntry[]> {
  const entries: PolicyLogEntry[] = [];
  for (let at = after; at < through; at += PAGE) {
    const rows = await reader.policyLog(groupId, at, Math.min(PAGE, through - at));
    entries.push(...rows.map(policyEntryOf));
  }
  return entries;
}
