// work.unblock: the Coordinator resolved what blocked a WorkItem (commands.md 1.25, WT-10, MWP-WRK-017b). An owner that is
// still there resumes; else the item is open again and its former owner fenced.
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind, DecisionContext } from '../decider.ts';
import { heldOwnership } from '../execution.ts';
import { resumeOwnership } from '../leases.ts';
import { one } from '../reads.ts';
import {
  checkCoordinator,
  checkMissionActive,
  coordinatorReads,
  groupOf,
  hasLiveOwner,
  missionOf,
  workItemIn,
  workLeasesRead,
  workReads,
} from '../roles.ts';
import type { View } from '../view.ts';
import { closedLeases, workEvent, workItemRevision } from '../work-items.ts';
import { optional, payload, reason } from './shapes.ts';

const schema = payload({ workItemId: id, resolution: optional(reason) });

export type WorkUnblockPayload = z.infer<typeof schema>;

export const workUnblock: CommandKind<WorkUnblockPayload> = {
  kind: 'work.unblock',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ command, payload }) => [...coordinatorReads(command), ...workReads(payload.workItemId)],
  moreReads({ payload }, view) {
    const childMissionId = view.get('work_item', payload.workItemId)?.details.childMissionId;
    return childMissionId === undefined ? [] : [one('mission', childMissionId)];
  },

  decide({ command, payload }, view, context) {
    const authority = checkCoordinator(command, view, context.now) ?? checkMissionActive(command, view);
    if (authority) return authority;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const refusal = checkBlocked(item, view);
    if (refusal) return refusal;
    const { resolution } = payload;
    return {
      events: [
        {
          kind: 'work.unblocked',
          ...workEvent(item),
          payload: {
            workItemId: item.workItem.workItemId,
            ...outcome(item, view, context),
            ...(resolution !== undefined && { resolution }),
          },
        },
      ],
    };
  },
};

function checkBlocked({ workItem, details }: WorkItemAggregate, view: View): Refusal | undefined {
  if (workItem.state !== 'blocked') return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${workItem.state}`);
  const child = details.childMissionId === undefined ? undefined : view.get('mission', details.childMissionId);
  if (!child || child.mission.state === 'failed' || child.mission.state === 'cancelled') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'a child Mission works on the WorkItem');
}

/** Whatever returns an item to `queued` lets its owner resume within the tenant's window (design section 4). */
function outcome(item: WorkItemAggregate, view: View, { now, policy }: DecisionContext) {
  const { groupId, workItemId, contract } = item.workItem;
  const leases = view.list(workLeasesRead(workItemId));
  if (!hasLiveOwner(item, view, now)) {
    return { status: 'open', closedLeases: closedLeases(leases, 'revoked', 'unblocked', now) };
  }
  const { deadline } = missionOf(view, groupId).mission;
  const ownership = heldOwnership(item, view);
  const blocked = leases.filter((lease) => lease !== ownership);
  return {
    status: 'queued',
    ownershipLease: resumeOwnership(ownership, now, policy.resumeWindowSeconds, contract.deadline, deadline),
    closedLeases: closedLeases(blocked, 'released', 'unblocked', now),
  };
}
