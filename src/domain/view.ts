// The part of the state that one decision may look at, and that `evolve` writes to. In memory, no connection behind it.
// Asking for what was not loaded is a broken invariant and throws: absence must be known, never assumed.
import type { AggregateKind, Aggregates } from './aggregates.ts';
import { indexOf } from './aggregate-index.ts';
import type { ListRead, LoadedAggregate, LoadedReads, Read, RecentCount, RecentRead } from './reads.ts';
import { readKey } from './reads.ts';

interface Entry {
  kind: AggregateKind;
  id: string;
  groupId: string;
  /** 0: not stored yet. */
  version: number;
  document: Aggregates[AggregateKind];
  changed: boolean;
}

export interface AggregateChange {
  kind: AggregateKind;
  id: string;
  groupId: string;
  /** The row version that must still be there; 0 for a row that must not. */
  expectedVersion: number;
  document: Aggregates[AggregateKind];
}

export class View {
  private readonly entries = new Map<string, Entry>();
  private readonly loaded = new Set<string>();
  private readonly recents = new Map<string, RecentCount>();
  private readonly complete: boolean;
  private readonly limited: boolean;

  /**
   * `complete`: everything that exists is in here, as when a Group is folded from its first Event. `limited`: as a member
   * folds who may not see all Events (design section 3), so that what an Event changes may never have been seen.
   */
  constructor(options: { complete?: boolean; limited?: boolean } = {}) {
    this.complete = options.complete ?? false;
    this.limited = options.limited ?? false;
  }

  /** Takes in what the store answered to these reads. What is already here, perhaps evolved, stays. */
  admit(reads: readonly Read[], answer: LoadedReads): void {
    for (const read of reads) this.loaded.add(readKey(read));
    reads
      .filter((read): read is RecentRead => read.read === 'recent')
      .forEach((read, position) => this.recents.set(readKey(read), answer.recents[position] ?? { count: 0 }));
    for (const aggregate of answer.aggregates) this.admitOne(aggregate);
  }

  private admitOne(aggregate: LoadedAggregate): void {
    const key = `${aggregate.kind} ${aggregate.id}`;
    if (!this.entries.has(key)) this.entries.set(key, { ...aggregate, changed: false });
  }

  isLoaded(read: Read): boolean {
    return this.complete || this.loaded.has(readKey(read));
  }

  get<K extends AggregateKind>(kind: K, id: string): Aggregates[K] | undefined {
    const entry = this.entries.get(`${kind} ${id}`);
    if (entry) return entry.document as Aggregates[K];
    if (!this.complete && !this.loaded.has(`one ${kind} ${id}`)) throw new Error(`not loaded: ${kind} ${id}`);
    return undefined;
  }

  /** For `evolve`, which only folds what is there. */
  mustGet<K extends AggregateKind>(kind: K, id: string): Aggregates[K] {
    const document = this.get(kind, id);
    if (!document) throw new Error(`absent: ${kind} ${id}`);
    return document;
  }

  /** For `evolve`, to change it: throws when absent, but in a limited fold, which skips what it never saw. */
  toChange<K extends AggregateKind>(kind: K, id: string): Aggregates[K] | undefined {
    return this.limited ? this.get(kind, id) : this.mustGet(kind, id);
  }

  /** Is it here, loaded or folded? Never throws; absence proves nothing. */
  has(kind: AggregateKind, id: string): boolean {
    return this.entries.has(`${kind} ${id}`);
  }

  /** Everything in here that matches, by id. Throws unless exactly this list was loaded. */
  list<K extends AggregateKind>(read: ListRead & { kind: K }): Aggregates[K][] {
    if (!this.isLoaded(read)) throw new Error(`not loaded: ${readKey(read)}`);
    return [...this.entries.values()]
      .filter((entry) => matches(entry, read))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((entry) => entry.document as Aggregates[K]);
  }

  recent(read: RecentRead): RecentCount {
    const count = this.recents.get(readKey(read));
    if (!count) throw new Error(`not loaded: ${readKey(read)}`);
    return count;
  }

  /** Only `evolve` calls this. A document is replaced, never written into. */
  set<K extends AggregateKind>(kind: K, id: string, groupId: string, document: Aggregates[K]): void {
    const key = `${kind} ${id}`;
    const version = this.entries.get(key)?.version ?? 0;
    if (version === 0 && !this.entries.has(key) && !this.complete && !this.loaded.has(`one ${kind} ${id}`)) {
      // A new aggregate whose id came from `context` (a lease, a checkpoint) cannot collide; the store's key proves it.
      this.loaded.add(`one ${kind} ${id}`);
    }
    this.entries.set(key, { kind, id, groupId, version, document, changed: true });
  }

  changes(): AggregateChange[] {
    return [...this.entries.values()]
      .filter((entry) => entry.changed)
      .map(({ kind, id, groupId, version, document }) => ({ kind, id, groupId, expectedVersion: version, document }));
  }

  /** Every aggregate in here; with a complete view, the state itself. */
  all(): { kind: AggregateKind; id: string; groupId: string; document: Aggregates[AggregateKind] }[] {
    return [...this.entries.values()].map(({ kind, id, groupId, document }) => ({ kind, id, groupId, document }));
  }
}

function matches(entry: Entry, read: ListRead): boolean {
  if (entry.kind !== read.kind) return false;
  if (read.groupId !== undefined && entry.groupId !== read.groupId) return false;
  const index = indexOf(entry.kind, entry.document as never);
  if (read.states && !read.states.includes(index.state ?? '')) return false;
  if (read.holder !== undefined && index.holder !== read.holder) return false;
  return read.parent === undefined || index.parent === read.parent;
}
