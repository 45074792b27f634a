// A store whose readers find sealed bodies where they lie: rows come as if nothing had been sealed. A body that is gone for
// good, because it was erased, stays ''.
import type { OrganizationId } from '../../protocol/ids.ts';
import { BlobFault } from '../../store/port/blobs.ts';
import type { SegmentRow } from '../../store/port/segments.ts';
import { StoreFault, type AuthorityStore, type EventRow, type Reader } from '../../store/port.ts';
import { openSegment, SegmentFault, type SegmentBodies } from './format.ts';
import type { SegmentBlobs } from './ports.ts';

/** Segments kept open in one process, the last ones asked for: who replays asks for one many times. */
const OPEN_MAXIMUM = 4;
/** Milliseconds after which a segment is opened anew: so long at most a process keeps what was erased out of it. */
const OPEN_MAXIMUM_MS = 60_000;
/** Rows of segments read in one go. */
const PAGE = 8;
/** A reading that meets a segment which was sealed anew under it is done once more, on newer rows. */
const READINGS_MAXIMUM = 3;

/** What the row names is not there. Perhaps an erasure sealed the range anew since the row was read. */
class SegmentGone extends StoreFault {
  constructor({ groupId, position }: SegmentRow) {
    super('corrupt', `segments: the bytes of segment ${position} of ${groupId} are gone`);
  }
}

export interface OpenedOptions {
  /** May `work` be run once more? Not where it writes as it goes. */
  again: boolean;
}

export function withSealedBodies(
  store: AuthorityStore,
  blobs: Pick<SegmentBlobs, 'get'>,
  { again }: OpenedOptions = { again: true },
): AuthorityStore {
  const opened = new OpenSegments(blobs);
  const read: AuthorityStore['read'] = async (organizationId, work) => {
    for (let readings = again ? 1 : READINGS_MAXIMUM; ; readings += 1) {
      try {
        return await store.read(organizationId, (reader) => work(openedReader(reader, organizationId, opened)));
      } catch (error) {
        if (!(error instanceof SegmentGone) || readings >= READINGS_MAXIMUM) throw error;
      }
    }
  };
  return { ...store, read };
}

function openedReader(reader: Reader, organizationId: OrganizationId, opened: OpenSegments): Reader {
  const bodies = new SealedBodies(reader, organizationId, opened);
  return {
    ...reader,
    events: async (streamId, after, limit) => bodies.ofEvents(await reader.events(streamId, after, limit)),
    event: async (eventId) => {
      const row = await reader.event(eventId);
      return row && (await bodies.ofEvents([row]))[0];
    },
    eventsById: async (eventIds) => bodies.ofEvents(await reader.eventsById(eventIds)),
    command: async (hash) => {
      const row = await reader.command(hash);
      return row && (await bodies.ofSigned('commands', [row]))[0];
    },
    commands: async (hashes) => bodies.ofSigned('commands', await reader.commands(hashes)),
    document: async (hash) => {
      const row = await reader.document(hash);
      return row && (await bodies.ofSigned('documents', [row]))[0];
    },
    documents: async (hashes) => bodies.ofSigned('documents', await reader.documents(hashes)),
  };
}

/** For one reading. */
class SealedBodies {
  private readonly reader: Reader;
  private readonly organizationId: OrganizationId;
  private readonly opened: OpenSegments;

  constructor(reader: Reader, organizationId: OrganizationId, opened: OpenSegments) {
    this.reader = reader;
    this.organizationId = organizationId;
    this.opened = opened;
  }

  async ofEvents(rows: EventRow[]): Promise<EventRow[]> {
    const filled: EventRow[] = [];
    let segments: SegmentRow[] = [];
    for (const row of rows) {
      if (row.body !== '') {
        filled.push(row);
        continue;
      }
      const holds = ({ groupId, firstSequence, lastSequence }: SegmentRow) =>
        groupId === row.streamId && firstSequence <= row.position && row.position <= lastSequence;
      if (!segments.some(holds)) segments = await this.reader.segmentsFrom(row.streamId, row.position, PAGE);
      const segment = segments.find(holds);
      const found = segment && (await this.opened.open(this.organizationId, segment)).events.get(row.position);
      filled.push(found === undefined ? row : { ...row, body: found });
    }
    return filled;
  }

  /** They lie where the Group has their admission record. */
  async ofSigned<Row extends { signingHash: string; body: string }>(
    what: 'commands' | 'documents',
    rows: Row[],
  ): Promise<Row[]> {
    const missing = rows.filter(({ body }) => body === '').map(({ signingHash }) => signingHash);
    if (missing.length === 0) return rows;
    const found = new Map<string, string>();
    for (const { signingHash, streamId, revision } of await this.reader.admissions(missing)) {
      const segment = await this.reader.segmentOfRevision(streamId, revision);
      const body = segment && (await this.opened.open(this.organizationId, segment))[what].get(signingHash);
      if (body !== undefined) found.set(signingHash, body);
    }
    return rows.map((row) => (row.body === '' ? { ...row, body: found.get(row.signingHash) ?? '' } : row));
  }
}

/** The last ones asked for, of all Organizations. */
class OpenSegments {
  private readonly blobs: Pick<SegmentBlobs, 'get'>;
  private readonly kept = new Map<string, { opening: Promise<SegmentBodies>; forgetting: NodeJS.Timeout }>();

  constructor(blobs: Pick<SegmentBlobs, 'get'>) {
    this.blobs = blobs;
  }

  open(organizationId: OrganizationId, segment: SegmentRow): Promise<SegmentBodies> {
    const key = `${organizationId} ${segment.hash}`;
    const known = this.kept.get(key);
    if (known) {
      this.kept.delete(key);
      this.kept.set(key, known);
      return known.opening;
    }
    const opening = openStored(this.blobs, organizationId, segment);
    const forgetting = setTimeout(() => this.forget(key, opening), OPEN_MAXIMUM_MS).unref();
    this.kept.set(key, { opening, forgetting });
    // What could not be opened may be there next time.
    opening.catch(() => this.forget(key, opening));
    for (const [oldest, { opening: itsOpening }] of this.kept) {
      if (this.kept.size <= OPEN_MAXIMUM) break;
      this.forget(oldest, itsOpening);
    }
    return opening;
  }

  /** With its timer: one that waits holds the bodies in memory, and whoever reads a long history opens many a second. */
  private forget(key: string, opening: Promise<SegmentBodies>): void {
    const kept = this.kept.get(key);
    if (kept?.opening !== opening) return;
    clearTimeout(kept.forgetting);
    this.kept.delete(key);
  }
}

/** Throws StoreFault. */
export async function openStored(
  blobs: Pick<SegmentBlobs, 'get'>,
  organizationId: OrganizationId,
  segment: SegmentRow,
): Promise<SegmentBodies> {
  const { groupId, position, hash } = segment;
  try {
    const bytes = await blobs.get(organizationId, hash);
    if (!bytes) throw new SegmentGone(segment);
    return await openSegment(bytes, organizationId, segment);
  } catch (cause) {
    if (cause instanceof BlobFault && cause.kind === 'unavailable') {
      // Perhaps it was removed while it was read.
      const isThere = await blobs.get(organizationId, hash).catch(() => true);
      if (isThere === undefined) throw new SegmentGone(segment);
      throw new StoreFault('unavailable', `segments: ${cause.message}`, { cause });
    }
    if (!(cause instanceof BlobFault) && !(cause instanceof SegmentFault)) throw cause;
    throw new StoreFault('corrupt', `segments: segment ${position} of ${groupId}: ${cause.message}`, { cause });
  }
}
