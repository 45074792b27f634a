// mission.created: a new Group with its Mission, main Conversation, first two Memberships and Coordinator lease.
import {
  missionAccountId,
  type Committed,
  type ConversationAggregate,
  type GroupAggregate,
  type LeaseAggregate,
  type MembershipDocument,
  type MissionDocument,
} from '../aggregates.ts';
import { acceptedLimits, NO_AMOUNTS } from '../budget.ts';
import type { EventKind } from '../decider.ts';
import { setMemberships } from '../memberships.ts';

interface MissionCreated {
  mission: MissionDocument<Committed>;
  title?: Committed;
  permissions: string[];
  group: GroupAggregate;
  conversation: ConversationAggregate;
  memberships: MembershipDocument[];
  coordinatorLease: LeaseAggregate;
}

export const missionCreated: EventKind<MissionCreated> = {
  kind: 'mission.created',
  erasable: ['mission.objective', 'mission.definitionOfDone.*.description', 'title', 'conversation.title'],

  evolve(view, { payload }) {
    const { mission, title, permissions, group, conversation, memberships, coordinatorLease } = payload;
    const { missionId, groupId, budget } = mission;
    view.set('mission', missionId, groupId, {
      mission,
      details: { ...(title && { title }), permissions, submissions: [] },
    });
    view.set('group', groupId, groupId, group);
    view.set('conversation', conversation.conversationId, groupId, conversation);
    setMemberships(view, memberships);
    view.set('lease', coordinatorLease.leaseId, groupId, coordinatorLease);
    view.set('budget_account', missionAccountId(missionId), groupId, {
      accountId: missionAccountId(missionId),
      groupId,
      owner: { type: 'mission', id: missionId },
      ...(budget.currency !== undefined && { currency: budget.currency }),
      limit: acceptedLimits(budget),
      allocated: NO_AMOUNTS,
      usage: NO_AMOUNTS,
      state: 'open',
    });
  },
};
