// State as the Events of one stream give it (design section 3: replay equivalence), with how many transitions changed each
// aggregate and with the texts that the Events commit to. The same `evolve` as the authority's.
import type { AggregateKind, Aggregates } from '../domain/aggregates.ts';
import { eventKindOf } from '../domain/events/catalogue.ts';
import { evolve } from '../domain/evolve.ts';
import { View } from '../domain/view.ts';
import type { Event } from '../protocol/documents/event.ts';
import type { TextRow } from '../store/port.ts';
import { canonicalHash, canonicalText } from '../wire/canonical.ts';
import { foldableForm } from '../wire/foldable.ts';
import { aggregateKey, stateDocument, stateHash } from '../wire/state-document.ts';

class WatchedView extends View {
  readonly touched = new Set<string>();

  override set<K extends AggregateKind>(kind: K, id: string, groupId: string, document: Aggregates[K]): void {
    this.touched.add(aggregateKey({ kind, id }));
    super.set(kind, id, groupId, document);
  }
}

export interface FoldedAggregate {
  kind: AggregateKind;
  id: string;
  groupId: string;
  version: number;
  document: Aggregates[AggregateKind];
}

export class StreamFold {
  private readonly view = new WatchedView({ complete: true });
  private readonly versions = new Map<string, number>();
  /** Of what did not change since it was last hashed. */
  private readonly hashes = new Map<string, string>();
  /** False after an Event that could not be folded: what follows gives no state. */
  whole = true;

  /** Answers the texts that the Event commits to. Throws where it cannot be folded. */
  add(event: Event): TextRow[] {
    const { event: foldable, texts } = foldableForm(event, eventKindOf(event.kind).erasable);
    evolve(this.view, foldable);
    const groupId = event.groupId ?? '';
    return [...texts].map(([commitment, value]) => ({
      commitment,
      eventId: event.eventId,
      groupId,
      value: canonicalText(value),
    }));
  }

  /** The Events of one transition are folded: each aggregate that they changed is one version further. */
  transitionEnded(): void {
    for (const key of this.view.touched) {
      this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
      this.hashes.delete(key);
    }
    this.view.touched.clear();
  }

  aggregates(): FoldedAggregate[] {
    return this.view.all().map((entry) => ({ ...entry, version: this.versions.get(aggregateKey(entry)) ?? 0 }));
  }

  /** Between two transitions. */
  stateHash(organizationId: string, groupId: string): string {
    const hashes = this.view.all().map(({ kind, id, document }) => {
      const key = aggregateKey({ kind, id });
      const hash = this.hashes.get(key) ?? canonicalHash(document);
      this.hashes.set(key, hash);
      return { kind, id, hash };
    });
    return stateHash(stateDocument(organizationId, groupId, hashes));
  }
}
