// work.cancelled: the WorkItem ended for good, alone or with its Mission (WT-18): fenced, offers withdrawn, account closed.
import { workItemAccountId, type Committed, type LeaseAggregate } from '../aggregates.ts';
import { applyReleases, closeAccount } from '../accounts.ts';
import type { Release } from '../allocation.ts';
import type { EventKind } from '../decider.ts';
import { bumpMissionOf, changeWorkItem, ended, fenced, setLeases } from '../work-items.ts';

interface WorkCancelled {
  workItemId: string;
  reason: Committed;
  closedLeases: LeaseAggregate[];
  releases?: Release[];
  /** Of its own; false where the end of the Mission brought it about. */
  missionRevisionBump?: boolean;
}

export const workCancelled: EventKind<WorkCancelled> = {
  kind: 'work.cancelled',
  erasable: ['reason'],

  evolve(view, event) {
    const { workItemId, reason, closedLeases, releases, missionRevisionBump } = event.payload;
    setLeases(view, closedLeases);
    changeWorkItem(view, event, workItemId, (item) => ended(fenced(item), 'cancelled', reason));
    closeAccount(view, workItemAccountId(workItemId), event.occurredAt);
    applyReleases(view, releases);
    if (missionRevisionBump !== false) bumpMissionOf(view, workItemId);
  },
};
