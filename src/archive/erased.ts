// What explains a body that is gone (decision 35). An erasure marks the Events of a Message and takes out their bodies and those of
// the Commands that brought them. In an Event's place stands its rendition, signed by the authority, which names the hash that the
// chain counts and folds to the same state; what a Command was is told by its admission record and its receipt, which the log counts.
import type { Event } from '../protocol/documents/event.ts';
import { renditionOf, type RenditionOf } from '../protocol/documents/rendition.ts';
import type { EventRow } from '../store/port.ts';
import type { WithheldRow } from '../store/port/withheld.ts';
import { compareColumns, type Findings } from './findings.ts';
import type { RecordedCommand, RecordedRendition, RecordedTransition } from './recorded.ts';

type Withheld = Pick<RecordedTransition, 'withheld' | 'renditions'>;

export function isErased({ withheld }: Pick<Withheld, 'withheld'>, { position }: Pick<EventRow, 'position'>): boolean {
  return withheld.some((mark) => mark.position === position && mark.cause === 'erased');
}

/** What stands in the place of an erased Event. */
export function standInOf(
  { renditions }: Pick<Withheld, 'renditions'>,
  { position }: Pick<EventRow, 'position'>,
): RecordedRendition | undefined {
  return renditions.find(({ row }) => row.position === position && row.cause === 'erased');
}

/** A Command goes with all Events that it led to. */
export function erasesCommand(recorded: Pick<RecordedTransition, 'events' | 'withheld'>): boolean {
  return recorded.events.some((event) => isErased(recorded, event));
}

/** Its body is gone, and may be. */
export function isErasedCommand(
  command: RecordedCommand | undefined,
  recorded: Pick<RecordedTransition, 'events' | 'withheld'>,
): boolean {
  return command?.row.body === '' && erasesCommand(recorded);
}

/** What an Event says that an original would say, for a document that stands in its place; undefined: it says nothing of it. */
export function standsForIn(document: Event): RenditionOf | undefined {
  try {
    return renditionOf(document);
  } catch {
    return undefined;
  }
}

/** What is left of it. Who it was signed by and what it led to is compared where its receipt is made again. */
export function checkErasedCommand(
  { row }: RecordedCommand,
  { events, admissions }: RecordedTransition,
  findings: Findings,
): void {
  const where = `commands: ${row.signingHash}`;
  const admission = admissions.get(row.signingHash);
  if (!admission) return findings.fault(`${where}: is erased, and its admission record is missing`);
  compareColumns(findings, where, row, {
    actor: admission.principal,
    keyId: admission.keyId,
    groupId: events[0]?.groupId,
  });
  const { documentKind, acceptedBy } = admission;
  if (documentKind !== 'command') findings.fault(`${where}: is admitted as ${documentKind} by ${acceptedBy.id}`);
}

/** Marks under which a body still lies are no fault: the process that takes it out comes after the answer. */
export function noteWhatIsLeft(mark: WithheldRow, event: EventRow | undefined, findings: Findings): void {
  if (mark.cause !== 'erased' || !event || event.body === '') return;
  findings.note(`the erasure at sequence ${mark.position} is ordered, and its bytes are not taken out yet`);
}
