// Replay: a Group's Events in sequence from where the reader is, a bounded page at a time. The same page serves HTTP now
// and will serve catch-up of subscriptions.
import { isAuditor } from '../domain/policy.ts';
import type { EventRow, OrganizationRow, Reader } from '../store/port.ts';
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

/**
 * Events after `after`, never before the reader's visibility start, at most `limit`. Restricted Conversations cannot be
 * created yet; their Events will reach others as signed renditions (T-4), so an active member's page has no holes.
 */
export async function replayPage(
  reader: Reader,
  groupId: string,
  { organization, sight }: Reading,
  { after, limit }: { after: number; limit: number },
): Promise<ReplayPage> {
  const headSequence = (await reader.stream(groupId))?.position ?? 0;
  // Never above the head: who asked from beyond it would miss what comes next.
  const throughSequence = Math.min(Math.max(after, sight.startSequence - 1), headSequence);
  const page = { throughSequence, headSequence };
  const seen: EventRow[] = [];
  const delivered = async () => ({ ...page, bodies: await deliverable(reader, seen, viewerOf(organization, sight)) });
  let bytes = 0;
  for (let looked = 0; looked < ROWS_MAXIMUM; looked += ROWS_AT_ONCE) {
    const rows = await reader.events(groupId, page.throughSequence, ROWS_AT_ONCE);
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
