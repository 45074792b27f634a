// Replay: a Group's Events in sequence from where the reader is, a bounded page at a time, and the one place that says when a
// cursor is too old. The same page serves HTTP now and will serve catch-up of subscriptions.
import { isAuditor } from '../domain/policy.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { StoreFault, type EventRow, type OrganizationRow, type Reader, type SnapshotRow } from '../store/port.ts';
import { deliverable, type DeliveredBody, type Viewer } from './rendered.ts';
import { seesEvent, type Sight } from './visibility.ts';

/** Bytes of one page; at least one Event always fits, and most pages are a few hundred kB. */
export const REPLAY_BYTES_MAXIMUM = 8 * 1_024 * 1_024;
/** Rows read at a time, so that the bound above holds for what is in memory, too, within this many Events. */
const ROWS_AT_ONCE = 50;
/** Rows looked at for one page: only a provisional member's page leaves any out, and it goes on where this one ended. */
const ROWS_MAXIMUM = 1_000;

export interface ReplayPage {
  /** In sequence order. */
  bodies: DeliveredBody[];
  /** The last sequence that this page covers: what to ask after next. */
  throughSequence: number;
  headSequence: number;
}

/** Who reads. */
export interface Reading {
  organization: OrganizationRow;
  sight: Sight;
}

/** Where a client fetches a snapshot: each transport has its own words for it. */
export type AddressOf = (snapshot: SnapshotRow) => string;

export interface CatchUp {
  /** The reader's cursor. */
  after: number;
  limit: number;
}

/**
 * Catch-up: what comes after the reader's cursor, while that lies in the online window. Below it, who sees the Group whole is
 * told CURSOR_TOO_OLD and which snapshot to restore. A snapshot would show others what they may not see, so they are
 * served from the segments, too (design section 8; MWP-WRK-030c).
 */
export async function catchUpPage(
  reader: Reader,
  groupId: string,
  { organization, sight, addressOf }: Reading & { addressOf: AddressOf },
  { after, limit }: CatchUp,
): Promise<ReplayPage | Refusal> {
  if (sight.level === 'full') {
    const sealed = await reader.latestSegment(groupId);
    if (sealed && after < sealed.lastSequence) return cursorTooOld(await coveringSnapshot(reader, groupId), addressOf);
  }
  return replayPage(reader, groupId, { organization, sight }, { after, limit });
}

/** No Event is sealed that no snapshot covers. */
async function coveringSnapshot(reader: Reader, groupId: string): Promise<SnapshotRow> {
  const snapshot = await reader.latestSnapshot(groupId);
  if (!snapshot) throw new StoreFault('corrupt', `group_snapshots: ${groupId} has segments and no snapshot`);
  return snapshot;
}

function cursorTooOld(snapshot: SnapshotRow, addressOf: AddressOf): Refusal {
  const { snapshotId, throughSequence, stateHash, artifactHash: snapshotArtifactHash } = snapshot;
  const details = { snapshotId, throughSequence, stateHash, uri: addressOf(snapshot) };
  const message = 'the position lies before what is kept online; restore the snapshot and go on after its sequence';
  return refuse('CURSOR_TOO_OLD', message, { snapshotArtifactHash, details });
}

/**
 * Events after `after`, never before the reader's visibility start nor after `through`, at most `limit`; from wherever they
 * lie. Restricted Conversations cannot be created yet; their Events will reach others as signed renditions (T-4), so an
 * active member's page has no holes.
 */
export async function replayPage(
  reader: Reader,
  groupId: string,
  { organization, sight }: Reading,
  { after, through = Number.MAX_SAFE_INTEGER, limit }: CatchUp & { through?: number },
): Promise<ReplayPage> {
  const headSequence = (await reader.stream(groupId))?.position ?? 0;
  // Never above the head: who asked from beyond it would miss what comes next.
  const throughSequence = Math.min(Math.max(after, sight.startSequence - 1), headSequence);
  const page = { throughSequence, headSequence };
  const seen: EventRow[] = [];
  const delivered = async () => ({ ...page, bodies: await deliverable(reader, seen, viewerOf(organization, sight)) });
  let bytes = 0;
  for (let looked = 0; looked < ROWS_MAXIMUM; looked += ROWS_AT_ONCE) {
    const wanted = Math.min(ROWS_AT_ONCE, through - page.throughSequence);
    const rows = wanted > 0 ? await reader.events(groupId, page.throughSequence, wanted) : [];
    for (const row of rows) {
      if (seen.length === limit) return delivered();
      if (seesEvent(sight, row)) {
        bytes += row.body.length;
        if (bytes > REPLAY_BYTES_MAXIMUM && seen.length > 0) return delivered();
        seen.push(row);
      }
      page.throughSequence = row.position;
    }
    if (rows.length < ROWS_AT_ONCE) break;
  }
  return delivered();
}

/** One Event of this Group, if the reader may see it, as it may have it. */
export async function visibleEvent(
  reader: Reader,
  groupId: string,
  { organization, sight }: Reading,
  eventId: string,
): Promise<DeliveredBody | undefined> {
  const row = await reader.event(eventId);
  if (!row || row.groupId !== groupId || !seesEvent(sight, row)) return undefined;
  return (await deliverable(reader, [row], viewerOf(organization, sight)))[0];
}

/**
 * What was withheld, for an auditor who is no member. It enters no Group by that: of an Event that everybody gets, and of a
 * Group that is not there, the answer is the same (decision 22).
 */
export async function withheldOriginal(
  reader: Reader,
  groupId: string,
  { organization, principal }: Viewer,
  eventId: string,
): Promise<DeliveredBody | undefined> {
  if (!isAuditor(await reader.policy(), principal)) return undefined;
  const row = await reader.event(eventId);
  if (!row || row.groupId !== groupId) return undefined;
  const marks = await reader.withheldEvents(groupId, row.position, row.position);
  return marks.length === 0 ? undefined : (await deliverable(reader, [row], { organization, principal }))[0];
}

function viewerOf(organization: OrganizationRow, { principal }: Sight): Viewer {
  return { organization, principal };
}
