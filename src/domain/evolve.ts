// The only way state changes: one Event, already committed (no erasable text in it), folded into a view.
import type { FoldableEvent } from './decider.ts';
import { eventKindOf } from './events/catalogue.ts';
import type { View } from './view.ts';

export function evolve(view: View, event: FoldableEvent): void {
  eventKindOf(event.kind).evolve(view, event);
}
