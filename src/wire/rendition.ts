// What stands in the place of an Event that its reader does not get: the same Event with a payload from which things were
// taken out, the time of its own signature, and one extension that says what it is. To be signed and admitted like any Event.
import type { Event } from '../protocol/documents/event.ts';
import { renditionExtensions, type RenditionOf } from '../protocol/documents/rendition.ts';
import { renderPayload } from './commitments.ts';

/** Why an Event is marked, and by which one. */
export type Mark = Pick<RenditionOf, 'cause' | 'reasonCode' | 'orderedBy'>;

/** What a reader gets who may know what was said, and not the words: the texts are left out, for the cause in the mark. */
export function withoutTexts(
  original: Event,
  { erasable, signingHash, occurredAt, mark }: WithoutTexts,
): Omit<Event, 'signature'> {
  const { cause, reasonCode, orderedBy } = mark;
  return renditionFor(original, {
    payload: renderPayload(original.payload, erasable),
    standsFor: { signingHash, occurredAt: original.occurredAt, cause, reasonCode, orderedBy },
    occurredAt,
  });
}

export interface WithoutTexts {
  /** Of the Event's kind. */
  erasable: readonly string[];
  /** Of the original. */
  signingHash: string;
  /** When the rendition is signed. */
  occurredAt: string;
  mark: Mark;
}

/** Where the admission records of a Group's renditions stand: beside its stream, whose transitions count theirs. */
export function renditionStream(groupId: string): string {
  return `renditions ${groupId}`;
}

/**
 * `payload`: what of the original's payload is left, as `renderPayload` gives it. Extensions that the Command had brought are
 * left out: they are free words of its sender, and nobody had to understand them.
 */
export function renditionFor(
  original: Event,
  { payload, standsFor, occurredAt }: { payload: Event['payload']; standsFor: RenditionOf; occurredAt: string },
): Omit<Event, 'signature'> {
  const { signature: _signature, ...same } = original;
  return { ...same, occurredAt, payload, extensions: renditionExtensions(standsFor) };
}
