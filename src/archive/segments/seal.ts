// Seals the oldest Events of a Group that are not: their bodies, and those of the Commands and documents that brought them,
// go into a blob, and out of their rows when that stands. Safe to end anywhere: until the one transaction all is as before.
import { commandKindOf } from '../../domain/commands/catalogue.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { SegmentRow } from '../../store/port/segments.ts';
import { passUnwatched, type AuthorityStore, type EventRow, type PassPoint, type Reader } from '../../store/port.ts';
import { readCommand } from '../recorded.ts';
import { packSegment, type SegmentBodies, type SegmentRange } from './format.ts';
import { openStored } from './opened.ts';
import type { SegmentBlobs } from './ports.ts';

/** Of one segment; a single transition that is more is one all the same. */
const EVENTS_MAXIMUM = 1_000;
const BYTES_MAXIMUM = 4_194_304;
/** Events read in one go. */
const PAGE = 250;

export interface SealingParts {
  store: AuthorityStore;
  blobs: SegmentBlobs;
  pass?: PassPoint;
}

/**
 * One segment of whole transitions that end at `through` or before, and at what the latest snapshot covers or before.
 * Undefined: there is no such transition, or somebody else was there first. Throws StoreFault and BlobFault.
 */
export async function sealNext(
  { store, blobs, pass = passUnwatched }: SealingParts,
  organizationId: OrganizationId,
  groupId: string,
  through: number,
): Promise<SegmentRow | undefined> {
  const gathered = await store.read(organizationId, (reader) => gather(reader, groupId, through));
  if (!gathered) return undefined;
  const { range, bodies } = gathered;
  const { hash, size } = await blobs.put(organizationId, once(await packSegment(organizationId, range, bodies)));
  const segment: SegmentRow = { ...gathered.row, hash, size };
  // It will be the only place: what was stored is read once, and its hash with it.
  await openStored(blobs, organizationId, segment);
  pass('segment-stored');
  const { events, commands, documents } = bodies;
  const taken = { events: events.size, commands: [...commands.keys()], documents: [...documents.keys()] };
  if (await store.segments.seal(organizationId, segment, taken)) {
    pass('segment-sealed');
    return segment;
  }
  await discard({ store, blobs }, organizationId, segment);
  return undefined;
}

/**
 * Nobody can name it any more but who took this position with the same bytes: a body in it was taken out meanwhile, and may have
 * been erased.
 */
async function discard(
  { store, blobs }: SealingParts,
  organizationId: OrganizationId,
  segment: SegmentRow,
): Promise<void> {
  const row = await store.read(organizationId, (reader) => reader.segmentAt(segment.groupId, segment.position));
  if (row?.hash !== segment.hash) await blobs.remove(organizationId, segment.hash);
}

interface Gathered {
  row: Omit<SegmentRow, 'hash' | 'size'>;
  range: SegmentRange;
  bodies: SegmentBodies;
}

async function gather(reader: Reader, groupId: string, wanted: number): Promise<Gathered | undefined> {
  const last = await reader.latestSegment(groupId);
  const { lastSequence = 0, lastRevision = 0, position = 0 } = last ?? {};
  const snapshot = await reader.latestSnapshot(groupId);
  const through = Math.min(wanted, snapshot?.throughSequence ?? 0);
  const events = await wholeTransitions(reader, groupId, lastSequence, through);
  const [first, end] = [events[0], events.at(-1)];
  if (!first || !end) return undefined;
  const range: SegmentRange = {
    groupId,
    firstSequence: first.position,
    lastSequence: end.position,
    firstRevision: lastRevision + 1,
    lastRevision: end.revision,
  };
  const row = { ...range, position: position + 1, firstEventId: first.eventId, lastEventId: end.eventId };
  return { row, range, bodies: await bodiesOf(reader, range, events) };
}

async function wholeTransitions(reader: Reader, groupId: string, after: number, through: number): Promise<EventRow[]> {
  const taken: EventRow[] = [];
  let bytes = 0;
  /** Rows that begin the transition which is perhaps not whole. */
  let begun: EventRow[] = [];
  for (let at = after; ;) {
    // One more than is wanted shows where the last transition ends.
    const rows = at > through ? [] : await reader.events(groupId, at, Math.min(PAGE, through + 1 - at));
    for (const row of rows) {
      if (begun.length > 0 && row.revision !== begun[0]?.revision) {
        taken.push(...begun);
        begun = [];
        if (taken.length >= EVENTS_MAXIMUM || bytes >= BYTES_MAXIMUM) return taken;
      }
      if (row.position > through) return taken;
      begun.push(row);
      bytes += row.body.length;
      at = row.position;
    }
    if (rows.length === 0) break;
  }
  // The last one of the Group ends with it.
  return [...taken, ...begun];
}

async function bodiesOf(reader: Reader, range: SegmentRange, events: readonly EventRow[]): Promise<SegmentBodies> {
  const hashes = [...new Set(events.map(({ commandHash }) => commandHash))];
  const commands = new Map<string, string>();
  const documents = new Map<string, string>();
  for (let at = 0; at < hashes.length; at += PAGE) {
    const page = await reader.commands(await admittedHere(reader, range, hashes.slice(at, at + PAGE)));
    const embedded: string[] = [];
    for (const row of page) {
      if (row.body === '') continue;
      commands.set(row.signingHash, row.body);
      if (commandKindOf(row.kind)?.documents) embedded.push(...readCommand(row).embedded.map((one) => one.signingHash));
    }
    for (const row of await reader.documents(await admittedHere(reader, range, [...new Set(embedded)])))
      if (row.body !== '') documents.set(row.signingHash, row.body);
  }
  const kept = events.filter(({ body }) => body !== '');
  return { events: new Map(kept.map(({ position, body }) => [position, body])), commands, documents };
}

/** A document that came with an earlier Command, or a Command of another Group, lies where it was admitted. */
async function admittedHere(
  reader: Reader,
  { groupId, firstRevision, lastRevision }: SegmentRange,
  hashes: string[],
): Promise<string[]> {
  if (hashes.length === 0) return [];
  const rows = await reader.admissions(hashes);
  const isHere = (row: (typeof rows)[number]) =>
    row.streamId === groupId && firstRevision <= row.revision && row.revision <= lastRevision;
  return rows.filter(isHere).map(({ signingHash }) => signingHash);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
