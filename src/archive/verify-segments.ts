// The segments of one Group against its history: their rows say where they begin and end, and the walk over the Events passes
// both. That every body is there and right is found where the Events are proven, by the reader that opens the segments.
import type { Reader, EventRow } from '../store/port.ts';
import type { SegmentRow } from '../store/port/segments.ts';
import { compareColumns, type Findings } from './findings.ts';
import type { Passed } from './verify-snapshots.ts';

/** Rows read in one go. */
const PAGE = 200;

export class SegmentWalk {
  /** Rows that are accounted for. */
  visited = 0;
  /** Ids of the first Event of the Group, then the first and last of each segment that was passed, each once. */
  readonly bounds: string[] = [];
  private readonly groupId: string;
  private readonly reader: Pick<Reader, 'segmentsFrom' | 'latestSnapshot'>;
  private waiting: SegmentRow[] = [];
  private isRead = false;
  private previous: SegmentRow | undefined;
  private first: EventRow | undefined;

  constructor(groupId: string, reader: Pick<Reader, 'segmentsFrom' | 'latestSnapshot'>) {
    this.groupId = groupId;
    this.reader = reader;
  }

  /** After each transition. */
  async passed({ events }: Pick<Passed, 'events'>, findings: Findings): Promise<void> {
    for (const event of events) {
      if (this.bounds.length === 0) this.bounds.push(event.eventId);
      const segment = await this.next();
      if (!segment) continue;
      if (event.position === segment.firstSequence) this.first = event;
      if (event.position < segment.lastSequence) continue;
      this.waiting.shift();
      this.check(segment, event, events.at(-1) === event, findings);
      for (const id of [this.first?.eventId, event.eventId])
        if (id !== undefined && this.bounds.at(-1) !== id) this.bounds.push(id);
      this.previous = segment;
    }
  }

  /** After the last transition. */
  async ended(head: number, findings: Findings): Promise<void> {
    for (let next = await this.next(); next; next = await this.next()) {
      this.waiting.shift();
      this.visited += 1;
      findings.fault(`${whereOf(next)}: ends at sequence ${next.lastSequence}, and the Group ends at ${head}`);
    }
    if (!this.previous) return;
    const { throughSequence = 0 } = (await this.reader.latestSnapshot(this.groupId)) ?? {};
    if (throughSequence < this.previous.lastSequence)
      findings.fault(`${whereOf(this.previous)}: no snapshot covers it, so nobody could restore what it took offline`);
  }

  private check(segment: SegmentRow, last: EventRow, isEnd: boolean, findings: Findings): void {
    this.visited += 1;
    const { position = 0, lastSequence = 0, lastRevision = 0 } = this.previous ?? {};
    compareColumns(findings, whereOf(segment), segment, {
      position: position + 1,
      firstSequence: lastSequence + 1,
      lastSequence: last.position,
      firstRevision: lastRevision + 1,
      lastRevision: last.revision,
      firstEventId: this.first?.eventId,
      lastEventId: last.eventId,
    });
    if (!isEnd) findings.fault(`${whereOf(segment)}: ends in the middle of a transition`);
  }

  private async next(): Promise<SegmentRow | undefined> {
    if (this.waiting.length === 0 && !this.isRead) {
      const from = (this.previous?.lastSequence ?? 0) + 1;
      this.waiting = await this.reader.segmentsFrom(this.groupId, from, PAGE);
      this.isRead = this.waiting.length < PAGE;
    }
    return this.waiting[0];
  }
}

function whereOf({ position }: SegmentRow): string {
  return `segments: position ${position}`;
}
