// mission.cancel: the MissionOwner or an authorised service gives the Mission up (commands.md 1.9, MT-7). A Coordinator
// may not. Descendant Missions follow once there can be any.
import type { z } from 'zod';
import { workItemAccountId } from '../aggregates.ts';
import type { CommandKind, EventDraft } from '../decider.ts';
import { closedCoordinatorLease, missionEndReads, missionEvent, missionRevision } from '../missions.ts';
import { list, one, type ListRead } from '../reads.ts';
import { checkMissionNotTerminal, checkOwner, groupOf, missionOf } from '../roles.ts';
import type { View } from '../view.ts';
import { closedLeases } from '../work-items.ts';
import { payload, reason } from './shapes.ts';

const UNFINISHED_STATES = ['open', 'offered', 'queued', 'active', 'blocked', 'submitted'];

const schema = payload({ reason });

export type MissionCancelPayload = z.infer<typeof schema>;

export const missionCancel: CommandKind<MissionCancelPayload> = {
  kind: 'mission.cancel',
  payload: schema,
  actors: ['human', 'service'],
  group: 'existing',
  revision: ({ command }, view) => missionRevision(command, view),

  reads: ({ command }) => [unfinishedRead(groupOf(command)), leasesRead(groupOf(command))],
  moreReads: ({ command }, view) => [
    ...missionEndReads(command, view),
    ...view
      .list(unfinishedRead(groupOf(command)))
      .map(({ workItem }) => one('budget_account', workItemAccountId(workItem.workItemId))),
  ],

  decide({ command, payload }, view, { now }) {
    // A service was authorised by policy before the Group was looked at (C14).
    const authority = command.actor.type === 'service' ? undefined : checkOwner(command, view);
    const refusal = authority ?? checkMissionNotTerminal(command, view);
    if (refusal) return refusal;
    const aggregate = missionOf(view, groupOf(command));
    const cancelled: EventDraft = {
      kind: 'mission.cancelled',
      ...missionEvent(aggregate),
      payload: {
        missionId: aggregate.mission.missionId,
        reason: payload.reason,
        ...closedCoordinatorLease(aggregate, view, { state: 'revoked', reason: 'mission_cancelled', now }),
      },
    };
    return { events: [cancelled, ...cancelledItems(groupOf(command), payload.reason, view, now)] };
  },
};

function unfinishedRead(groupId: string): ListRead & { kind: 'work_item' } {
  return list('work_item', { groupId, states: UNFINISHED_STATES }) as ListRead & { kind: 'work_item' };
}

function leasesRead(groupId: string): ListRead & { kind: 'lease' } {
  return list('lease', { groupId, states: ['active'] }) as ListRead & { kind: 'lease' };
}

/** WT-18: each unfinished item on its own, so that every queue can be rebuilt from Events. */
function cancelledItems(groupId: string, why: string, view: View, now: string): EventDraft[] {
  const leases = view.list(leasesRead(groupId));
  return view.list(unfinishedRead(groupId)).map(({ workItem: { workItemId, conversationId, revision } }) => ({
    kind: 'work.cancelled',
    groupId,
    aggregateRevision: revision + 1,
    workItemId,
    conversationId,
    causedBy: 0,
    payload: {
      workItemId,
      reason: why,
      closedLeases: closedLeases(
        leases.filter((lease) => lease.workItemId === workItemId),
        'revoked',
        'mission_cancelled',
        now,
      ),
      missionRevisionBump: false,
    },
  }));
}
