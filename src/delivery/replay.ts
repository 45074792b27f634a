// Replay: a Group's Events in sequence from where the reader is, a bounded page at a time. The same page serves HTTP now
// and will serve catch-up of subscriptions.
import type { EventRow, Reader } from '../store/port.ts';
import { seesSequence, type Sight } from './visibility.ts';

/** Bytes of one page; at least one Event always fits, and most pages are a few hundred kB. */
export const REPLAY_BYTES_MAXIMUM = 8 * 1_024 * 1_024;
/** Rows read at a time, so that the bound above holds for what is in memory, too, within this many Events. */
const ROWS_AT_ONCE = 50;

export interface ReplayPage {
  /** Exact signed bodies, in sequence order. */
  bodies: string[];
  /** The last sequence that this page covers: what to ask after next. */
  throughSequence: number;
  headSequence: number;
}

/**
 * Events after `after`, never before the reader's visibility start, at most `limit`. Restricted Conversations cannot be
 * created yet; their Events will reach others as signed renditions (T-4), so nothing is left out of the middle here.
 */
export async function replayPage(
  reader: Reader,
  groupId: string,
  sight: Sight,
  { after, limit }: { after: number; limit: number },
): Promise<ReplayPage> {
  const headSequence = (await reader.stream(groupId))?.position ?? 0;
  const bodies: string[] = [];
  let throughSequence = Math.max(after, sight.startSequence - 1);
  let bytes = 0;
  while (bodies.length < limit) {
    const rows = await reader.events(groupId, throughSequence, Math.min(ROWS_AT_ONCE, limit - bodies.length));
    if (rows.length === 0) break;
    for (const row of rows) {
      bytes += row.body.length;
      if (bytes > REPLAY_BYTES_MAXIMUM && bodies.length > 0) return { bodies, throughSequence, headSequence };
      bodies.push(row.body);
      throughSequence = row.position;
    }
  }
  return { bodies, throughSequence, headSequence };
}

/** One Event of this Group, if the reader may see it. */
export async function visibleEvent(
  reader: Reader,
  groupId: string,
  sight: Sight,
  eventId: string,
): Promise<EventRow | undefined> {
  const row = await reader.event(eventId);
  if (!row || row.groupId !== groupId || !seesSequence(sight, row.position)) return undefined;
  return row;
}
