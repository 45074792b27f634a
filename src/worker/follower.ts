// Follows one Group: folds its Events page by page, and where the authority no longer has the next one online, restores the
// snapshot that it names and goes on strictly after it. Nothing is folded twice and nothing is left out.

import { isJsonObject } from '../protocol/documents/json-value.ts';
import type { Event } from '../protocol/documents/event.ts';
import { GroupFold } from './group-fold.ts';
import { IN_MEMORY, type ProjectionStore } from './projection.ts';
import type { EventPage } from './answers.ts';
import { done, failed, type Outcome, type Refused } from './outcome.ts';
import type { CallOptions } from './client.ts';
import type { ExpectedSnapshot, Restored, RestoreFault } from './restore.ts';

/** In one go: the window may move past a snapshot while it is restored, but not faster than it is restored for ever. */
const RESTORES_MAXIMUM = 5;

export type Follows = Omit<ExpectedSnapshot, 'groupId' | 'snapshotArtifactHash' | 'after'>;

/** What it asks of a GroupReader. */
export interface Followed {
  readonly groupId: string;
  eventPage(after: number, options?: CallOptions): Promise<Outcome<EventPage>>;
  restore(
    expected: Omit<ExpectedSnapshot, 'groupId'>,
    options?: CallOptions,
    snapshotId?: string,
  ): Promise<Outcome<Restored>>;
}

export interface CaughtUp {
  /** The head as it stood at the last page; the fold is there. */
  headSequence: number;
  /** Snapshots that were restored on the way. */
  restored: number;
}

/** Early Events that wait for those before them; further ones come with the replay. */
const EARLY_MAXIMUM = 200;

export class GroupFollower {
  private readonly reader: Followed;
  private readonly expected: Follows;
  private readonly store: ProjectionStore;
  private readonly early = new Map<number, Event>();
  private current: GroupFold;
  private kept: number;
  private keeping: Promise<void> = Promise.resolve();

  /** From the first Event. `resume` goes on from what was kept. */
  constructor(reader: Followed, expected: Follows, store = IN_MEMORY, fold?: GroupFold) {
    this.reader = reader;
    this.expected = expected;
    this.store = store;
    this.current = fold ?? new GroupFold(expected.organizationId, reader.groupId);
    this.kept = this.current.throughSequence;
  }

  /** Where it left off, or from the first Event where nothing was kept. */
  static async resume(reader: Followed, expected: Follows, store: ProjectionStore): Promise<GroupFollower> {
    return new GroupFollower(reader, expected, store, await store.load());
  }

  /** Another one after a restore. */
  get fold(): GroupFold {
    return this.current;
  }

  /** The highest sequence up to which everything is folded and kept: what may be acknowledged (MWP-WRK-030a). */
  get cursor(): number {
    return this.kept;
  }

  /**
   * Events of the Group as they are pushed, in any order and as often as they come. Early ones wait, in memory, and the
   * Cursor with them (MWP-WRK-029b): what is lost meanwhile comes again with the replay. Rejects where nothing can be kept.
   */
  async deliver(...events: Event[]): Promise<void> {
    for (const event of events) {
      const isEarly = this.current.add(event) === 'gap';
      const sequence = event.sequence as number;
      if (isEarly && this.early.size < EARLY_MAXIMUM && !this.early.has(sequence)) this.early.set(sequence, event);
      this.foldEarly();
    }
    await this.keep();
  }

  /** A problem leaves the fold where it stands: the next call goes on from there. Rejects where nothing can be kept. */
  async catchUp(options?: CallOptions): Promise<Outcome<CaughtUp>> {
    for (let restored = 0; ;) {
      const page = await this.reader.eventPage(this.current.throughSequence, options);
      if (page.ok) {
        const { items, next, headSequence, throughSequence } = page.value;
        const gap = items.find((event) => this.current.add(event) === 'gap');
        this.foldEarly();
        await this.keep();
        if (gap) return broken(`the page has a gap at ${gap.sequence}`);
        if (this.current.throughSequence < throughSequence) return broken(`the page ends before ${throughSequence}`);
        if (next === undefined) return done({ headSequence, restored });
        continue;
      }
      const { problem } = page;
      if (problem.kind !== 'refused' || problem.code !== 'CURSOR_TOO_OLD' || restored === RESTORES_MAXIMUM) return page;
      const outcome = await this.restore(problem, options);
      if (!outcome.ok) return outcome;
      restored += 1;
    }
  }

  private foldEarly(): void {
    for (const sequence of this.early.keys()) if (sequence <= this.current.throughSequence) this.early.delete(sequence);
    for (;;) {
      const next = this.early.get(this.current.throughSequence + 1);
      if (!next) return;
      this.current.add(next);
      this.early.delete(next.sequence as number);
    }
  }

  /** One after the other, so that no earlier state is kept over a later one. */
  private keep(): Promise<void> {
    const turn = this.keeping.then(async () => {
      const { throughSequence } = this.current;
      if (throughSequence === this.kept) return;
      await this.store.advance(this.current);
      this.kept = throughSequence;
    });
    this.keeping = turn.catch(() => undefined);
    return turn;
  }

  /** True also where that snapshot is not kept any more: the next page names another. */
  private async restore({ error }: Refused, options: CallOptions | undefined): Promise<Outcome<true>> {
    const { snapshotArtifactHash, details } = error;
    const snapshotId = isJsonObject(details) ? details['snapshotId'] : undefined;
    if (snapshotArtifactHash === undefined || typeof snapshotId !== 'string') return broken('it names no snapshot');
    const after = this.current.throughSequence;
    const outcome = await this.reader.restore({ ...this.expected, snapshotArtifactHash, after }, options, snapshotId);
    if (!outcome.ok) {
      const isGone = outcome.problem.kind === 'refused' && outcome.problem.status === 404;
      return isGone ? done(true) : outcome;
    }
    if (!outcome.value.ok) return broken(faultText(outcome.value.fault));
    const { fold } = outcome.value;
    // Pushed Events may have gone past it meanwhile.
    if (fold.throughSequence > this.current.throughSequence) this.current = fold;
    this.foldEarly();
    await this.keep();
    return done(true);
  }
}

function faultText(fault: RestoreFault): string {
  return `the snapshot is not restored: ${fault}`;
}

function broken(message: string) {
  return failed({ kind: 'unreadable', status: 200, message });
}
