// work.cancelled: the WorkItem is given up, by itself or with its Mission (WT-14, WT-18); its owner is fenced.
import { closeAccount } from '../accounts.ts';
import { workItemAccountId, type Committed, type LeaseAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { bumpMission, changeWorkItem, fenced, setLeases } from '../work-items.ts';

interface WorkCancelled {
  workItemId: string;
  reason: Committed;
  closedLeases: LeaseAggregate[];
  /** False when the Mission itself was cancelled: that is no further revision of it. */
  missionRevisionBump?: boolean;
}

export const workCancelled: EventKind<WorkCancelled> = {
  kind: 'work.cancelled',
  erasable: ['reason'],

  evolve(view, event) {
    const { workItemId, reason, closedLeases, missionRevisionBump } = event.payload;
    setLeases(view, closedLeases);
    changeWorkItem(view, event, workItemId, (item) => {
      const { workItem, details } = fenced(item);
      return { workItem: { ...workItem, state: 'cancelled' }, details: { ...details, endReason: reason } };
    });
    closeAccount(view, workItemAccountId(workItemId), event.occurredAt);
    const item = view.toChange('work_item', workItemId);
    if (item && missionRevisionBump !== false) bumpMission(view, item.workItem.missionId);
  },
};
