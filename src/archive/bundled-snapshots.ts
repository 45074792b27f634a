// The snapshots that stand in a bundle, each after the transition that it is of, and where the segments ended that they name.
import type { Accepting } from './check-signatures.ts';
import type { Findings } from './findings.ts';
import { SnapshotWalk, type Passed } from './verify-snapshots.ts';

export class BundledSnapshots {
  private readonly walk: SnapshotWalk;
  /** As SegmentWalk has them. */
  private readonly bounds: string[] = [];
  /** The first Event after the last segment. */
  private first: string | undefined;

  constructor(groupId: string, accepting: Accepting) {
    this.walk = new SnapshotWalk(groupId, { through: ({ snapshots = [] }) => snapshots }, accepting);
  }

  /** That were judged. */
  get count(): number {
    return this.walk.visited.group_snapshots;
  }

  async passed(at: Passed, findings: Findings): Promise<void> {
    for (const { eventId } of at.events) {
      if (this.bounds.length === 0) this.bounds.push(eventId);
      this.first ??= eventId;
    }
    this.segmentEnded(at, findings);
    await this.walk.passed(at, this.bounds, findings);
  }

  private segmentEnded({ events, end, sealedThrough }: Passed, findings: Findings): void {
    if (sealedThrough === undefined) return;
    if (sealedThrough !== end.position) findings.fault(`segments: one ends at ${sealedThrough}, not ${end.position}`);
    for (const id of [this.first, events.at(-1)?.eventId])
      if (id !== undefined && this.bounds.at(-1) !== id) this.bounds.push(id);
    this.first = undefined;
  }
}
