// Where the bodies lie that an erasure takes out: in rows, or in which segment. Reads rows as they are stored, so it is given
// a store that opens no segment.
import { commandKindOf } from '../../domain/commands/catalogue.ts';
import type { CommandRow, Reader } from '../../store/port.ts';
import type { ErasureRow } from '../../store/port/erasures.ts';
import type { SegmentRow } from '../../store/port/segments.ts';
import type { WithheldEvent } from '../../store/port/withheld.ts';
import { readCommand } from '../recorded.ts';

/** Sequences, ids or hashes read in one go. */
const PAGE = 250;

export interface Whereabouts {
  /** Marked Events. */
  eventIds: string[];
  /** What lies in rows: sequences, signing hashes. */
  events: number[];
  commands: string[];
  documents: string[];
  /** By position. What lies in one may be gone from it already. */
  segments: Map<number, InSegment>;
}

export interface InSegment {
  segment: SegmentRow;
  /** Sequences. */
  events: Set<number>;
  commands: CommandRow[];
}

/** Every mark, of whatever cause, on the Events that this erasure marked. */
export async function marksOf(reader: Reader, erasure: ErasureRow): Promise<WithheldEvent[]> {
  const { groupId, firstSequence, lastSequence, orderedBy } = erasure;
  const found: WithheldEvent[] = [];
  for (let from = firstSequence; from <= lastSequence; from += PAGE) {
    const marks = await reader.withheldEvents(groupId, from, Math.min(from + PAGE - 1, lastSequence));
    const erased = new Set(
      marks.filter((mark) => mark.cause === 'erased' && mark.orderedBy === orderedBy).map(({ position }) => position),
    );
    found.push(...marks.filter(({ position }) => erased.has(position)));
  }
  return found;
}

export async function whereabouts(
  reader: Reader,
  { groupId }: ErasureRow,
  eventIds: readonly string[],
): Promise<Whereabouts> {
  const found: Whereabouts = { eventIds: [...eventIds], events: [], commands: [], documents: [], segments: new Map() };
  const inSegment = (segment: SegmentRow): InSegment => {
    const known = found.segments.get(segment.position) ?? { segment, events: new Set(), commands: [] };
    found.segments.set(segment.position, known);
    return known;
  };
  const seen = new Set<string>();
  for (let at = 0; at < eventIds.length; at += PAGE) {
    const rows = await reader.eventsById(eventIds.slice(at, at + PAGE));
    for (const { position, body } of rows) {
      if (body !== '') found.events.push(position);
      else {
        const [segment] = await reader.segmentsFrom(groupId, position, 1);
        if (segment && segment.firstSequence <= position) inSegment(segment).events.add(position);
      }
    }
    const hashes = rows.map(({ commandHash }) => commandHash).filter((hash) => !seen.has(hash));
    for (const row of await reader.commands([...new Set(hashes)])) {
      seen.add(row.signingHash);
      if (row.body !== '') {
        found.commands.push(row.signingHash);
        found.documents.push(...(await documentsInRows(reader, row)));
        continue;
      }
      const segment = await segmentOf(reader, groupId, row);
      if (segment) inSegment(segment).commands.push(row);
    }
  }
  return found;
}

/** Signing hashes of the documents that this Command was the first to bring, and whose bodies lie in their rows. */
export async function documentsInRows(reader: Reader, command: CommandRow): Promise<string[]> {
  const rows = await reader.documents(documentsIn(command));
  return rows
    .filter(({ body, commandHash }) => body !== '' && commandHash === command.signingHash)
    .map(({ signingHash }) => signingHash);
}

/** Signing hashes. */
export function documentsIn(command: CommandRow): string[] {
  if (!commandKindOf(command.kind)?.documents) return [];
  return readCommand(command).embedded.map(({ signingHash }) => signingHash);
}

/** It lies where the Group has its admission record. */
async function segmentOf(
  reader: Reader,
  groupId: string,
  { signingHash }: CommandRow,
): Promise<SegmentRow | undefined> {
  const admission = await reader.admission(signingHash);
  if (admission && admission.streamId !== groupId)
    throw new Error(`an erased Event came with a Command of ${admission.streamId}`);
  return admission && reader.segmentOfRevision(groupId, admission.revision);
}
