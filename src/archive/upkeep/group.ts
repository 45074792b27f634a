// One look at one Group: a snapshot where one is due, then what lies before the online window goes into segments. The rows
// and blobs alone say what is to be done, so whoever ends in the middle is followed by whoever looks next.
import type { Policy } from '../../domain/policy.ts';
import type { AuthorityStore, OrganizationRow, PassPoint } from '../../store/port.ts';
import { sealNext } from '../segments/seal.ts';
import type { SegmentBlobs } from '../segments/ports.ts';
import type { SnapshotBlobs, Snapshots } from '../snapshot/ports.ts';
import { removeOutdated } from '../snapshot/outdated.ts';
import { slackWindow, strictWindow } from './window.ts';

/** Segments made in one look: other Groups wait meanwhile. */
const SEGMENTS_MAXIMUM = 8;

export interface UpkeepParts {
  store: AuthorityStore;
  segmentBlobs: SegmentBlobs;
  snapshots: Pick<Snapshots, 'takeSnapshot'>;
  snapshotBlobs: SnapshotBlobs;
  pass?: PassPoint;
}

export interface Look {
  /** Sequence that was covered, if a snapshot was taken. */
  snapshotThrough?: number;
  /** Segments that were made. */
  sealed: number;
  /** There is more to seal. */
  isUnfinished: boolean;
  /** Events that may come before there can be something to do again; a guess. */
  eventsToGo: number;
}

export async function lookAt(
  parts: UpkeepParts,
  organization: OrganizationRow,
  groupId: string,
  policy: Policy,
): Promise<Look> {
  const { store, segmentBlobs, snapshotBlobs, pass } = parts;
  const { organizationId } = organization;
  const { onlineWindow, snapshotEvery } = policy;
  const standing = await store.segments.standing(organizationId, groupId);
  if (!standing) return { sealed: 0, isUnfinished: false, eventsToGo: snapshotEvery };
  const { headSequence, sealedThrough } = standing;
  let { snapshotThrough } = standing;
  const now = Date.parse(await store.organizations.now());
  const outside = (window: typeof onlineWindow, of: typeof strictWindow) =>
    store.segments.outsideWindow(organizationId, groupId, of(window, now));
  const isWorthWhile = (await outside(onlineWindow, slackWindow)) > 0;
  const through = isWorthWhile ? await outside(onlineWindow, strictWindow) : 0;
  const look: Look = { sealed: 0, isUnfinished: false, eventsToGo: 0 };
  if (through > snapshotThrough || headSequence - snapshotThrough >= snapshotEvery) {
    const taken = await parts.snapshots.takeSnapshot(organization, groupId);
    if (taken) {
      look.snapshotThrough = snapshotThrough = taken.row.throughSequence;
      await removeOutdated(store, snapshotBlobs, organizationId, groupId);
    }
  }
  let last = sealedThrough;
  while (last < through && look.sealed < SEGMENTS_MAXIMUM) {
    const segment = await sealNext(
      { store, blobs: segmentBlobs, ...(pass && { pass }) },
      organizationId,
      groupId,
      through,
    );
    if (!segment) break;
    look.sealed += 1;
    last = segment.lastSequence;
  }
  look.isUnfinished = look.sealed === SEGMENTS_MAXIMUM && last < through;
  const online = headSequence - last;
  const slack = slackWindow(onlineWindow, now).events;
  look.eventsToGo = Math.max(1, Math.min(snapshotEvery - (headSequence - snapshotThrough), slack - online));
  return look;
}
