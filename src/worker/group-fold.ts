// A Group's state from its Events alone, folded with the same `evolve` as the authority's, so that a member can recompute
// the `stateHash` that the authority reports (design section 3). Needs every Event from the first on.

import type { FoldableEvent } from '../domain/decider.ts';
import { eventKindOf } from '../domain/events/catalogue.ts';
import { evolve } from '../domain/evolve.ts';
import { View } from '../domain/view.ts';
import type { Event } from '../protocol/documents/event.ts';
import { canonicalHash } from '../wire/canonical.ts';
import { commitPayload } from '../wire/commitments.ts';
import { stateDocument, stateHash } from '../wire/state-document.ts';

export function foldGroup(events: readonly Event[]): View {
  const view = new View({ complete: true });
  for (const event of events) evolve(view, foldable(event));
  return view;
}

export function foldedStateHash(organizationId: string, groupId: string, events: readonly Event[]): string {
  const aggregates = foldGroup(events)
    .all()
    .map(({ kind, id, document }) => ({ kind, id, hash: canonicalHash(document) }));
  return stateHash(stateDocument(organizationId, groupId, aggregates));
}

/** Free text never enters the state, only the salted commitment to it. */
function foldable(event: Event): FoldableEvent {
  return { ...event, payload: commitPayload(event.payload, eventKindOf(event.kind).erasable).payload };
}
