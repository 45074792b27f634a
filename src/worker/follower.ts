// Follows one Group: folds its Events page by page, and where the authority no longer has the next one online, restores the
// snapshot that it names and goes on strictly after it. Nothing is folded twice and nothing is left out.

import { isJsonObject } from '../protocol/documents/json-value.ts';
import { GroupFold } from './group-fold.ts';
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

export class GroupFollower {
  private readonly reader: Followed;
  private readonly expected: Follows;
  private current: GroupFold;

  /** `fold`: where it left off; nothing: from the first Event. */
  constructor(reader: Followed, expected: Follows, fold = new GroupFold(expected.organizationId, reader.groupId)) {
    this.reader = reader;
    this.expected = expected;
    this.current = fold;
  }

  /** Another one after a restore. */
  get fold(): GroupFold {
    return this.current;
  }

  /** A problem leaves the fold where it stands: the next call goes on from there. */
  async catchUp(options?: CallOptions): Promise<Outcome<CaughtUp>> {
    for (let restored = 0; ;) {
      const page = await this.reader.eventPage(this.current.throughSequence, options);
      if (page.ok) {
        for (const event of page.value.items) {
          if (this.current.add(event) === 'gap') return broken(`the page has a gap at ${event.sequence}`);
        }
        const { next, headSequence, throughSequence } = page.value;
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
    this.current = outcome.value.fold;
    return done(true);
  }
}

function faultText(fault: RestoreFault): string {
  return `the snapshot is not restored: ${fault}`;
}

function broken(message: string) {
  return failed({ kind: 'unreadable', status: 200, message });
}
