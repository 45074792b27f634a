// All that one Organization's store holds of its history, in one snapshot: every stream, then what no stream accounts for.
import type { OrganizationRow, Reader, RowCounts, StreamHead } from '../store/port.ts';
import { StoreFault, COUNTED_TABLES } from '../store/port.ts';
import type { Accepting } from './check-signatures.ts';
import { checkAggregates, checkHead, checkTexts, isOrganizationStream } from './check-state.ts';
import { Findings } from './findings.ts';
import { anchorOf, type AnchoredHead } from './heads.ts';
import { registryEvidence } from './historical-evidence.ts';
import { storedTransitions } from './store-source.ts';
import type { CheckSeal } from '../trust/registry.ts';
import { verifyRegistry } from './verify-registry.ts';
import type { SnapshotBlobs } from './snapshot/ports.ts';
import { SegmentWalk } from './verify-segments.ts';
import { StoredSnapshots } from './snapshot/recorded.ts';
import { SnapshotWalk, type Passed } from './verify-snapshots.ts';
import { verifyStream } from './verify-stream.ts';

/** Heads read in one go. */
const PAGE = 500;

export interface StreamReport {
  streamId: string;
  events: number;
  revision: number;
  /** Of the folded state of a Group. */
  stateHash?: string;
  faults: number;
  /** Bounded. */
  sentences: string[];
  notes: string[];
}

export interface OrganizationReport {
  streams: number;
  events: number;
  faults: number;
  /** What is wrong with no stream in particular. */
  sentences: string[];
  notes: string[];
  /** To be written down elsewhere. */
  heads: AnchoredHead[];
}

export interface VerifyOptions {
  /** Written down earlier; each must still stand. */
  anchors?: readonly AnchoredHead[];
  told?: (report: StreamReport) => void;
  progress?: (streamId: string, events: number) => void;
  /** What snapshots name; without it their bytes are not looked at. */
  blobs?: SnapshotBlobs;
  /** Needs the master key; without it the seals of the Registry's log are not looked at. */
  checkSeal?: CheckSeal;
}

type AboutOrganization = Pick<OrganizationRow, 'organizationId' | 'authority'>;

export async function verifyOrganization(
  { organizationId, authority }: AboutOrganization,
  reader: Reader,
  { anchors = [], told, progress, blobs, checkSeal }: VerifyOptions = {},
): Promise<OrganizationReport> {
  const registered = await verifyRegistry({ organizationId }, reader, checkSeal);
  const evidence = registryEvidence(organizationId, registered.registry);
  const accepting: Accepting = { organizationId, authority, evidence };
  const report: OrganizationReport = { streams: 0, events: 0, faults: 0, sentences: [], notes: [], heads: [] };
  const visited = Object.fromEntries(COUNTED_TABLES.map((table) => [table, 0])) as RowCounts;
  /** Without the state of every stream nothing can be said of rows of state too many. */
  let folded = true;
  const awaited = new Map(anchors.map((anchor) => [anchor.streamId, anchor]));
  for (let after = ''; ;) {
    const page = await reader.streamRows(after, PAGE);
    for (const row of page) {
      const { streamId } = row.head;
      const anchor = awaited.get(streamId);
      awaited.delete(streamId);
      const watch = {
        ...(anchor && { anchor }),
        ...(blobs && { blobs }),
        ...(progress && { progress: progress.bind(undefined, streamId) }),
      };
      const stream = await verifyStored(row, accepting, reader, watch);
      report.streams += 1;
      report.events += stream.report.events;
      report.faults += stream.report.faults;
      report.heads.push(anchorOf(row.head));
      visited.streams += 1;
      folded &&= stream.folded;
      for (const [table, rows] of Object.entries(stream.visited)) visited[table as keyof RowCounts] += rows;
      told?.(stream.report);
    }
    if (page.length < PAGE) break;
    after = page.at(-1)?.head.streamId ?? '';
  }
  const rest = new Findings();
  for (const streamId of awaited.keys()) rest.fault(`streams: ${streamId} stands in the heads file and is gone`);
  const counts = await reader.rowCounts();
  for (const table of COUNTED_TABLES) {
    if (counts[table] === visited[table]) continue;
    if (!folded && (table === 'aggregates' || table === 'texts')) continue;
    rest.fault(`${table}: ${counts[table]} rows, and transitions account for ${visited[table]}`);
  }
  const { findings } = registered;
  return {
    ...report,
    faults: report.faults + findings.count + rest.count,
    sentences: [...findings.sentences(), ...rest.sentences()],
    notes: findings.notes,
  };
}

interface Watch {
  anchor?: AnchoredHead;
  blobs?: SnapshotBlobs;
  progress?: (events: number) => void;
}

/** What a Group has that no transition accounts for, judged while the walk passes what it is about. */
function besideTheStream(groupId: string, reader: Reader, accepting: Accepting, blobs?: SnapshotBlobs) {
  const segments = new SegmentWalk(groupId, reader);
  const stored = new StoredSnapshots(groupId, reader);
  const through = ({ end }: Passed) => stored.through(end.position);
  const snapshots = new SnapshotWalk(groupId, { through, ...(blobs && { bytes: { blobs, reader } }) }, accepting);
  return {
    passed: async (at: Passed, findings: Findings) => {
      await segments.passed(at, findings);
      await snapshots.passed(at, segments.bounds, findings);
    },
    ended: async (head: number, findings: Findings) => {
      await segments.ended(head, findings);
      await snapshots.ended(head, stored.through(Infinity), findings);
    },
    visited: () => ({ ...snapshots.visited, segments: segments.visited }),
  };
}

/** One stream of a store, with its state and its head. Answers the rows that it accounts for. */
export async function verifyStored(
  row: { head: StreamHead; streamKind: string },
  accepting: Accepting,
  reader: Reader,
  { blobs, ...watch }: Watch = {},
): Promise<{ report: StreamReport; visited: Partial<RowCounts>; folded: boolean }> {
  const { streamId } = row.head;
  const isGroup = !isOrganizationStream(streamId);
  const beside = isGroup ? besideTheStream(streamId, reader, accepting, blobs) : undefined;
  try {
    const verified = await verifyStream(
      {
        streamId,
        pages: storedTransitions(streamId, reader),
        checkTexts: (texts, findings) => checkTexts(texts, reader, findings),
        ...(beside && { passed: (at, findings) => beside.passed(at, findings) }),
        ...watch,
      },
      accepting,
    );
    const { findings, end, fold, visited } = verified;
    await beside?.ended(end.position, findings);
    const aggregates = await checkAggregates(verified, isGroup, reader);
    checkHead(verified, row);
    const report: StreamReport = {
      streamId,
      events: verified.visited.events,
      revision: end.revision,
      ...(isGroup && fold.whole && { stateHash: fold.stateHash(accepting.organizationId, streamId) }),
      faults: findings.count,
      sentences: findings.sentences(),
      notes: findings.notes,
    };
    const { admissions = 0, ...counted } = beside?.visited() ?? {};
    const all = { ...visited, ...counted, aggregates, admissions: visited.admissions + admissions };
    return { report, visited: all, folded: fold.whole };
  } catch (error) {
    // A row that the store itself cannot read: somebody else has written there.
    if (!(error instanceof StoreFault) || error.kind !== 'corrupt') throw error;
    const { revision } = row.head;
    const sentences = [`cannot be read to its end: ${error.message}`];
    return { report: { streamId, events: 0, revision, faults: 1, sentences, notes: [] }, visited: {}, folded: false };
  }
}
