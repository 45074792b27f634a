// The snapshots of one Group against its history: each is judged as the walk passes the sequence that it is of, so that
// nothing is folded twice; and one that the walk never reaches shows that a tail was cut off.
import type { GroupSnapshot } from '../protocol/documents/group-snapshot.ts';
import type { OrganizationId } from '../protocol/ids.ts';
import { samePrincipal } from '../protocol/principals.ts';
import type { PolicyLogRow, Reader, SnapshotRow, StreamHead } from '../store/port.ts';
import { linkOf, policyEntryOf, type SnapshotLink } from '../trust/snapshot-link.ts';
import { readDocument } from '../trust/verify.ts';
import { canonicalText, sha256Label, tryCanonicalText } from '../wire/canonical.ts';
import { archivedOn } from './check-archival.ts';
import { checkAdmission } from './check-rows.ts';
import { judge, lookupOf, type Accepting } from './check-signatures.ts';
import { compareColumns, type Findings } from './findings.ts';
import type { StreamFold } from './fold.ts';
import { signingHashOf, type RecordedTransition } from './recorded.ts';
import { POLICY_ENTRIES_MAXIMUM } from './snapshot/gather.ts';
import { isOutdated } from './snapshot/outdated.ts';
import type { SnapshotBlobs } from './snapshot/ports.ts';
import type { RecordedSnapshot } from './snapshot/recorded.ts';
import { snapshotStream } from './snapshot/sign.ts';
import { checkAssembledState, checkSnapshotBlobs, type BlobsToCheck } from './verify-snapshot-blobs.ts';

export interface SnapshotSource {
  /** Those that a walk which stands there has to judge now, in order. */
  through(at: Passed): AsyncIterable<RecordedSnapshot> | Iterable<RecordedSnapshot>;
  /** Absent: the bytes that snapshots name are not looked at. */
  bytes?: { blobs: SnapshotBlobs; reader: Pick<Reader, 'latestSnapshot'> };
}

/** Where the walk stands after a transition. */
export interface Passed extends Pick<RecordedTransition, 'events' | 'policyLog' | 'snapshots' | 'sealedThrough'> {
  end: Omit<StreamHead, 'rootGroupId'>;
  fold: StreamFold;
}

export class SnapshotWalk {
  /** Rows that are accounted for. */
  readonly visited = { group_snapshots: 0, admissions: 0 };
  private readonly groupId: string;
  private readonly source: SnapshotSource;
  private readonly accepting: Accepting;
  private readonly seen = new Map<string, boolean>();
  /** The last one whose bytes are all there. */
  private whole: { row: SnapshotRow; link: SnapshotLink } | undefined;
  private previous: SnapshotRow | undefined;
  private bounds: readonly string[] = [];
  private latest: SnapshotRow | undefined;
  /** Of the policy log since the last snapshot. */
  private entries: PolicyLogRow[] = [];

  constructor(groupId: string, source: SnapshotSource, accepting: Accepting) {
    this.groupId = groupId;
    this.source = source;
    this.accepting = accepting;
  }

  /** `bounds`: ids of the first Event and of those at which the segments so far begin and end. */
  async passed(at: Passed, bounds: readonly string[], findings: Findings): Promise<void> {
    this.bounds = bounds;
    this.checkArchived(at, findings);
    this.entries = [...this.entries, ...at.policyLog].slice(-POLICY_ENTRIES_MAXIMUM);
    for await (const next of this.source.through(at)) {
      await this.check(next, at, findings);
      this.previous = next.row;
      this.entries = [];
    }
  }

  /** An archive rests on the snapshot that stood when it was made. */
  private checkArchived({ events }: Passed, findings: Findings): void {
    const named = archivedOn(events);
    if (
      !named ||
      (named.snapshotId === this.previous?.snapshotId && named.snapshotHash === this.previous?.artifactHash)
    )
      return;
    findings.fault('group_snapshots: the one that the Group was archived on is not the latest before that');
  }

  /** After the last transition. `beyond`: those that the walk did not reach. */
  async ended(head: number, beyond: AsyncIterable<RecordedSnapshot>, findings: Findings): Promise<void> {
    const toCheck = this.blobsToCheck();
    if (toCheck && this.whole) await checkAssembledState(this.whole.row, this.whole.link, toCheck, findings);
    for await (const { row } of beyond) {
      this.visited.group_snapshots += 1;
      const where = `group_snapshots: position ${row.position}`;
      findings.fault(
        `${where}: of sequence ${row.throughSequence}, and the Group ends at ${head}: its tail was cut off`,
      );
    }
  }

  private async check({ row, admission }: RecordedSnapshot, at: Passed, findings: Findings): Promise<void> {
    const where = `group_snapshots: position ${row.position}`;
    this.visited.group_snapshots += 1;
    if (admission) {
      this.visited.admissions += 1;
      checkAdmission(admission, findings);
      const expected = { streamId: snapshotStream(this.groupId), revision: row.position };
      compareColumns(findings, `admissions: ${row.signingHash}`, admission, expected);
    }
    const read = readDocument('group-snapshot', { bytes: Buffer.from(row.body, 'utf8') });
    const judged = await judge('group-snapshot', read, () => lookupOf(admission, this.accepting), this.accepting);
    if (!judged.ok) findings.fault(`${where}: the snapshot: ${judged.reason}`);
    else if (judged.revokedLater)
      findings.note(`${judged.verified.keyId} was revoked later; what it signed before that stands`);
    if (!read.ok) return;
    const { document } = read;
    const link = linkOf(document);
    if (!link) return findings.fault(`${where}: the signed document has no link`);
    if (!samePrincipal(document.createdBy, this.accepting.authority))
      findings.fault(`${where}: is not signed by the authority`);
    this.checkColumns(row, document, link, findings);
    this.checkHistory(where, document, link, at, findings);
    const toCheck = this.blobsToCheck();
    if (!toCheck || isOutdated(row, await this.latestRow())) return;
    this.whole = (await checkSnapshotBlobs(row, link, toCheck, findings)) ? { row, link } : undefined;
  }

  /** The bytes of older ones are removed in time, and nobody is told to restore them. */
  private async latestRow(): Promise<SnapshotRow | undefined> {
    this.latest ??= await this.source.bytes?.reader.latestSnapshot(this.groupId);
    return this.latest;
  }

  private blobsToCheck(): BlobsToCheck | undefined {
    const { bytes } = this.source;
    const organizationId = this.accepting.organizationId as OrganizationId;
    return bytes && { organizationId, blobs: bytes.blobs, seen: this.seen };
  }

  private checkColumns(row: SnapshotRow, document: GroupSnapshot, link: SnapshotLink, findings: Findings): void {
    const where = `group_snapshots: position ${row.position}`;
    const { snapshotId, groupId, throughSequence, stateHash, createdAt } = document;
    compareColumns(findings, where, row, {
      groupId,
      position: link.position,
      snapshotId,
      throughSequence,
      signingHash: signingHashOf(document),
      artifactHash: sha256Label(row.body),
      stateHash,
      packs: canonicalText(link.statePacks),
      createdAt,
    });
    const form = tryCanonicalText(document);
    if (!form.ok || form.text !== row.body) findings.fault(`${where}: the body is not in canonical form`);
  }

  private checkHistory(
    where: string,
    document: GroupSnapshot,
    link: SnapshotLink,
    { end, fold, events }: Passed,
    findings: Findings,
  ): void {
    const { organizationId } = this.accepting;
    if (document.throughSequence !== end.position) return findings.fault(`${where}: is of no transition's end`);
    if (fold.whole && fold.stateHash(organizationId, this.groupId) !== document.stateHash)
      findings.fault(`${where}: the state is not what the Events say`);
    const { position = 0, snapshotId, artifactHash, throughSequence } = this.previous ?? {};
    const covered = this.covered();
    const lastEventId = events.at(-1)?.eventId ?? '';
    compareColumns(
      findings,
      `${where}: the signed document`,
      { ...link, ...document, policyLog: document.policyLog.slice(1), range: link.policyLog },
      {
        organizationId,
        position: position + 1,
        previous: this.previous ? { snapshotId, snapshotArtifactHash: artifactHash, throughSequence } : null,
        head: { revision: end.revision, chainHash: end.chainHash, logHash: end.logHash },
        range: { after: Math.max(covered, end.policyPosition - POLICY_ENTRIES_MAXIMUM), through: end.policyPosition },
        policyLog: this.entries.map(entryIn),
        eventIds: eventIdsThat(document.eventIds, this.bounds, lastEventId),
      },
    );
  }

  private covered(): number {
    if (!this.previous) return 0;
    try {
      return linkOf(JSON.parse(this.previous.body) as GroupSnapshot)?.policyLog.through ?? 0;
    } catch {
      return 0;
    }
  }
}

/** What stands there, if it could: a snapshot names the segments that there were when it was taken, and the head. */
function eventIdsThat(told: readonly string[], bounds: readonly string[], lastEventId: string): readonly string[] {
  const differs = told.findIndex((id, place) => id !== bounds[place]);
  const known = differs === -1 ? told.length : differs;
  const isRight = known > 0 && told.at(-1) === lastEventId && told.length - known <= 1;
  return isRight ? told : [...new Set([bounds[0] ?? '', lastEventId])];
}

/** Details that are no JSON any more are told by the log chain, and are not what was signed here either. */
function entryIn(row: PolicyLogRow): object {
  try {
    return policyEntryOf(row);
  } catch {
    return row;
  }
}
