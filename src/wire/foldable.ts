// An Event as it is folded: its texts are commitments, whether it came as the original or as the rendition in its place. Both
// give the same, so whoever holds renditions computes the very state that the authority reports.
import type { Event } from '../protocol/documents/event.ts';
import { renditionOf } from '../protocol/documents/rendition.ts';
import { commitPayload } from './commitments.ts';

/** `texts`: what was taken out, by commitment; a rendition has none. Throws where it cannot be folded. */
export function foldableForm(event: Event, erasable: readonly string[]): { event: Event; texts: Map<string, unknown> } {
  const standsFor = renditionOf(event);
  const { payload, texts } = commitPayload(event.payload, erasable, { rendition: standsFor !== undefined });
  const occurredAt = standsFor?.occurredAt ?? event.occurredAt;
  return { event: { ...event, occurredAt, payload: payload }, texts };
}
