// resource_usage_recorded: the WorkItem's account was charged. Its ancestors hold its limit, so none of them changes.
import { workItemAccountId, type Amounts } from '../aggregates.ts';
import { charge } from '../accounts.ts';
import type { EventKind } from '../decider.ts';

interface ResourceUsageRecorded {
  workItemId: string;
  usageDelta: Amounts;
}

export const resourceUsageRecorded: EventKind<ResourceUsageRecorded> = {
  kind: 'ext.missionweaveprotocol.core.resource_usage_recorded',
  erasable: [],

  evolve(view, { payload: { workItemId, usageDelta } }) {
    charge(view, workItemAccountId(workItemId), usageDelta);
  },
};
