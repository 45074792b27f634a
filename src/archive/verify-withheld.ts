// Marks and renditions of one Group against its Events: each mark is ordered by an Event that is there and covers what that
// Event withholds, no more and no less; each rendition is what the original gives without its texts, signed and admitted.
import { holdsErasable } from '../wire/commitments.ts';
import { canonicalText, tryCanonicalText } from '../wire/canonical.ts';
import { renditionFor, renditionStream, withoutTexts } from '../wire/rendition.ts';
import { eventKindOf } from '../domain/events/catalogue.ts';
import type { Event } from '../protocol/documents/event.ts';
import { EVENT_ERASED } from '../protocol/retention.ts';
import type { EventRow } from '../store/port.ts';
import type { RenditionRow, WithheldRow } from '../store/port/withheld.ts';
import { readDocument } from '../trust/verify.ts';
import { checkAdmission } from './check-rows.ts';
import { judge, lookupOf, type Accepting, type JudgedTransition } from './check-signatures.ts';
import { noteWhatIsLeft } from './erased.ts';
import { compareColumns, type Findings } from './findings.ts';
import { signingHashOf, type RecordedRendition } from './recorded.ts';

/** What a redaction leaves in its marks. */
const BY_REDACTION = { cause: 'redacted', reasonCode: 'message_redacted' } as const;

export class WithheldWalk {
  /** Rows that are accounted for. */
  readonly visited = { withheld: 0, renditions: 0, admissions: 0 };
  private readonly accepting: Accepting;
  /** Sequences of the Events that a Message's text stands in. */
  private readonly spoken = new Map<string, number[]>();
  /** By Message: the sequence of its redaction, which an erasure covers, too. */
  private readonly redacted = new Map<string, number>();
  /** Marks that were seen, until the Event that ordered them comes; by its id. */
  private readonly ordered = new Map<string, WithheldRow[]>();

  constructor(accepting: Accepting) {
    this.accepting = accepting;
  }

  async passed({ recorded, events: judgements }: JudgedTransition, findings: Findings): Promise<void> {
    const { events, withheld, renditions } = recorded;
    const documents = judgements.map((judged) => (judged.ok ? (judged.verified.document as Event) : undefined));
    for (const mark of withheld) this.takeMark(mark, events, findings);
    for (const rendition of renditions) {
      const { row } = rendition;
      const at = events.findIndex(({ position }) => position === row.position);
      const mark = withheld.find(({ position, cause }) => position === row.position && cause === row.cause);
      await this.checkRendition(rendition, { event: events[at], document: documents[at], mark }, findings);
    }
    for (const [at, document] of documents.entries()) {
      // A rendition, which stands where an original is gone, has a time of its own.
      if (document) this.takeEvent({ ...document, occurredAt: events[at]?.occurredAt ?? '' }, findings);
    }
  }

  /** After the last transition. */
  ended(findings: Findings): void {
    for (const [orderedBy, marks] of this.ordered) {
      for (const { position } of marks)
        findings.fault(`withheld: position ${position} is marked by no Event ${orderedBy}`);
    }
  }

  private takeMark(mark: WithheldRow, events: readonly EventRow[], findings: Findings): void {
    this.visited.withheld += 1;
    const event = events.find(({ position }) => position === mark.position);
    const where = `withheld: position ${mark.position}`;
    compareColumns(findings, where, mark, { groupId: event?.groupId, eventId: event?.eventId });
    noteWhatIsLeft(mark, event, findings);
    this.ordered.set(mark.orderedBy, [...(this.ordered.get(mark.orderedBy) ?? []), mark]);
  }

  private takeEvent({ eventId, kind, sequence = 0, occurredAt, payload }: Event, findings: Findings): void {
    const { message, amendment } = payload as Spoken;
    if (kind === EVENT_ERASED) {
      const { messageId, reasonCode } = payload as { messageId: string; reasonCode: string };
      const due = [...(this.spoken.get(messageId) ?? []), this.redacted.get(messageId) ?? []].flat();
      this.checkMarks(eventId, due, { cause: 'erased', reasonCode, recordedAt: occurredAt }, findings);
    }
    if (kind === 'message.posted' && message && holdsErasable(payload, eventKindOf(kind).erasable)) {
      this.spoken.set(message.messageId, [sequence]);
    }
    const target = amendment?.targetMessageId;
    if (target === undefined) return;
    if (kind === 'message.corrected' || kind === 'message.retracted') {
      const sequences = this.spoken.get(target);
      if (sequences) sequences.push(sequence);
      else this.spoken.set(target, [sequence]);
    }
    if (kind === 'message.redacted') {
      const due = this.spoken.get(target) ?? [];
      this.checkMarks(eventId, due, { ...BY_REDACTION, recordedAt: occurredAt }, findings);
      this.redacted.set(target, sequence);
    }
  }

  private checkMarks(
    orderedBy: string,
    due: readonly number[],
    expected: Partial<WithheldRow>,
    findings: Findings,
  ): void {
    const marks = new Map((this.ordered.get(orderedBy) ?? []).map((mark) => [mark.position, mark]));
    this.ordered.delete(orderedBy);
    for (const position of due) {
      const mark = marks.get(position);
      marks.delete(position);
      const where = `withheld: position ${position}`;
      if (!mark) findings.fault(`${where} is not marked, though ${orderedBy} withholds it`);
      else compareColumns(findings, where, mark, expected);
    }
    for (const position of marks.keys()) {
      findings.fault(`withheld: position ${position} is marked, and ${orderedBy} does not withhold it`);
    }
  }

  private async checkRendition({ row, admission }: RecordedRendition, of: Of, findings: Findings): Promise<void> {
    const where = `renditions: position ${row.position}`;
    this.visited.renditions += 1;
    if (admission) {
      this.visited.admissions += 1;
      checkAdmission(admission, findings);
      const expected = { streamId: renditionStream(row.groupId), revision: row.position };
      compareColumns(findings, `admissions: ${row.signingHash}`, admission, expected);
    }
    const read = readDocument('event', { bytes: Buffer.from(row.body, 'utf8') });
    const judged = await judge('event', read, () => lookupOf(admission, this.accepting), this.accepting);
    if (!judged.ok) findings.fault(`${where}: the rendition: ${judged.reason}`);
    else if (judged.revokedLater)
      findings.note(`${judged.verified.keyId} was revoked later; what it signed before that stands`);
    if (read.ok) compare(where, row, read.document, of, findings);
  }
}

interface Spoken {
  message?: { messageId: string };
  amendment?: { targetMessageId?: string };
}

/** The Event that is rendered. */
interface Of {
  event: EventRow | undefined;
  /** Where it is believed; where it is erased, its stand-in. */
  document: Event | undefined;
  mark: WithheldRow | undefined;
}

function compare(
  where: string,
  row: RenditionRow,
  rendition: Event,
  { event, document, mark }: Of,
  findings: Findings,
) {
  if (!event || !mark) return findings.fault(`${where}: of an Event that is not marked`);
  const { signature, ...unsigned } = rendition;
  compareColumns(findings, where, row, {
    groupId: event.groupId,
    eventId: event.eventId,
    signingHash: signingHashOf(rendition),
    keyId: signature.keyId,
    signedAt: rendition.occurredAt,
  });
  const form = tryCanonicalText(rendition);
  if (!form.ok || form.text !== row.body) findings.fault(`${where}: the body is not in canonical form`);
  if (!document) return undefined;
  const expected =
    event.body === '' ? expectedBeside(document, row, event, mark) : expectedFrom(document, row, event, mark);
  if (canonicalText(unsigned) !== canonicalText(expected)) findings.fault(`${where}: is not what the original gives`);
}

function expectedFrom(original: Event, { signedAt }: RenditionRow, { signingHash }: EventRow, mark: WithheldRow) {
  const { erasable } = eventKindOf(original.kind);
  return withoutTexts(original, { erasable, signingHash, occurredAt: signedAt, mark });
}

/** The original is gone: all renditions of one Event say the same, each for its own cause. */
function expectedBeside(
  standIn: Event,
  { signedAt }: RenditionRow,
  { signingHash, occurredAt }: EventRow,
  { cause, reasonCode, orderedBy }: WithheldRow,
) {
  const standsFor = { signingHash, occurredAt, cause, reasonCode, orderedBy };
  return renditionFor(standIn, { payload: standIn.payload, standsFor, occurredAt: signedAt });
}
