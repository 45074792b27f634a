// A Group's state from its Events, folded with the same `evolve` as the authority's, so that a member can recompute the
// `stateHash` that the authority reports (design section 3). Begins at the first Event, or where a snapshot ends.

import type { FoldableEvent } from '../domain/decider.ts';
import { eventKindOf } from '../domain/events/catalogue.ts';
import { evolve } from '../domain/evolve.ts';
import type { LoadedAggregate } from '../domain/reads.ts';
import { View } from '../domain/view.ts';
import type { Event } from '../protocol/documents/event.ts';
import { canonicalHash } from '../wire/canonical.ts';
import { foldableForm } from '../wire/foldable.ts';
import { stateDocument, stateHash } from '../wire/state-document.ts';

export class GroupFold {
  readonly organizationId: string;
  readonly groupId: string;
  readonly view = new View({ complete: true });
  private through = 0;

  constructor(organizationId: string, groupId: string) {
    this.organizationId = organizationId;
    this.groupId = groupId;
  }

  /** What was proven to be the state at that sequence: restoreGroup is who calls this. */
  static from(
    { organizationId, groupId, throughSequence }: { organizationId: string; groupId: string; throughSequence: number },
    aggregates: LoadedAggregate[],
  ): GroupFold {
    const fold = new GroupFold(organizationId, groupId);
    fold.view.admit([], { aggregates, recents: [] });
    fold.through = throughSequence;
    return fold;
  }

  /** The last sequence that is in the state. */
  get throughSequence(): number {
    return this.through;
  }

  /**
   * `known`: it is in the state already, and nothing changes. `gap`: not the next one, and nothing changes; fetch what lies
   * between. Throws for an Event of another Group or of a kind that is not known here.
   */
  add(event: Event): 'folded' | 'known' | 'gap' {
    if (event.groupId !== this.groupId || event.sequence === undefined) throw new Error('an Event of another Group');
    if (event.sequence <= this.through) return 'known';
    if (event.sequence > this.through + 1) return 'gap';
    evolve(this.view, foldable(event));
    this.through = event.sequence;
    return 'folded';
  }

  stateHash(): string {
    const hashes = this.view.all().map(({ kind, id, document }) => ({ kind, id, hash: canonicalHash(document) }));
    return stateHash(stateDocument(this.organizationId, this.groupId, hashes));
  }
}

/** Of the whole history. Throws where an Event is missing. */
export function foldedStateHash(organizationId: string, groupId: string, events: readonly Event[]): string {
  const fold = new GroupFold(organizationId, groupId);
  for (const event of events) {
    if (fold.add(event) === 'gap') throw new Error(`an Event between ${fold.throughSequence} and ${event.sequence}`);
  }
  return fold.stateHash();
}

/** Free text never enters the state, only the salted commitment to it. */
function foldable(event: Event): FoldableEvent {
  return foldableForm(event, eventKindOf(event.kind).erasable).event;
}
