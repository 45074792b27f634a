// work.cancel: the Coordinator or the MissionOwner ends a WorkItem for good (commands.md 1.30, WT-14, T-6, MWP-AUT-006).
// What a contract wants cleaned up is work of its own, authorized like any other: 0.1 has no member that declares it.
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse } from '../../protocol/refusals.ts';
import { endReads, endReleases } from '../allocation.ts';
import type { CommandKind } from '../decider.ts';
import {
  checkMissionNotTerminal,
  checkOwnerOrCoordinator,
  coordinatorReads,
  groupOf,
  workItemIn,
  workLeasesRead,
  workReads,
} from '../roles.ts';
import { closedLeases, isUnfinished, workEvent, workItemRevision } from '../work-items.ts';
import { payload, reason } from './shapes.ts';

const schema = payload({ workItemId: id, reason });

export type WorkCancelPayload = z.infer<typeof schema>;

export const workCancel: CommandKind<WorkCancelPayload> = {
  kind: 'work.cancel',
  payload: schema,
  actors: ['agent', 'human'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ command, payload }) => [...coordinatorReads(command), ...workReads(payload.workItemId)],
  moreReads: ({ payload }, view) => endReads(view, payload.workItemId),

  decide({ command, payload }, view, context) {
    const { now } = context;
    const authority = checkOwnerOrCoordinator(command, view, now) ?? checkMissionNotTerminal(command, view);
    if (authority) return authority;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const { workItemId, state } = item.workItem;
    if (!isUnfinished(item)) return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${state}`);
    return {
      events: [
        {
          kind: 'work.cancelled',
          ...workEvent(item),
          payload: {
            workItemId,
            reason: payload.reason,
            closedLeases: closedLeases(view.list(workLeasesRead(workItemId)), 'revoked', 'cancelled', now),
            releases: endReleases(view, item, context),
          },
        },
      ],
    };
  },
};
