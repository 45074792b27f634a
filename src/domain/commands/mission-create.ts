// mission.create: a human declares a Mission and becomes its accountable owner (commands.md 1.1, MT-1).
import { z } from 'zod';
import { acceptanceCriterion, budget, extensions, id, safeInteger } from '../../protocol/documents/shapes.ts';
import { semver, text, timestamp, unique } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import type { AgentCardAggregate } from '../aggregates.ts';
import { limitsOf } from '../budget.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { cappedEnd, openLease } from '../leases.ts';
import { activeMembership } from '../memberships.ts';
import { one } from '../reads.ts';
import { hasRight, mayOwnMissions } from '../rights.ts';
import type { View } from '../view.ts';
import { optional, payload, seconds, title } from './shapes.ts';

const DEFAULT_LEASE_SECONDS = 300;

const schema = payload({
  missionId: id,
  groupId: id,
  coordinatorId: optional(id),
  /** The name that the conformance vector uses. */
  coordinatorAgentId: optional(id),
  title: optional(title),
  objective: text(1, 10_000),
  definitionOfDone: z.array(acceptanceCriterion).min(1),
  budget,
  deadline: timestamp,
  approvalPolicy: z.strictObject({
    finalHumanApproval: z.literal(true),
    highRiskExecutionApproval: z.boolean(),
    policyVersion: optional(semver),
  }),
  permissions: optional(z.array(text(1, 160)).max(200)),
  pinnedProfiles: optional(unique(z.strictObject({ profileUri: id, majorVersion: safeInteger }))),
  coordinatorLeaseSeconds: optional(seconds),
  followUpOfMissionId: optional(z.never()),
  extensions: optional(extensions),
}).refine((value) => (value.coordinatorId ?? value.coordinatorAgentId) !== undefined, 'coordinatorId is required');

export type MissionCreatePayload = z.infer<typeof schema>;

export const missionCreate: CommandKind<MissionCreatePayload> = {
  kind: 'mission.create',
  payload: schema,
  actors: ['human'],
  group: 'new',
  /** It is new, so nothing else can be expected; a Mission that has the id already may be hidden from the actor. */
  revision: () => 0,

  reads: ({ payload }) => [
    one('mission', payload.missionId),
    one('agent_card', coordinatorOf(payload)),
    one('session', coordinatorOf(payload)),
  ],

  decide(request, view, context) {
    const { command, payload } = request;
    const refusal = check(request, view, context);
    if (refusal) return refusal;
    const card = mustHave(view.get('agent_card', coordinatorOf(payload)));
    const session = mustHave(view.get('session', card.agentId));
    const { now } = context;
    const { missionId, groupId } = payload;
    const leaseId = context.newId();
    const conversationId = context.newId();
    const coordinatorLease = openLease(now, {
      leaseId,
      leaseType: 'coordinator',
      missionId,
      groupId,
      holderAgentId: card.agentId,
      sessionEpoch: session.sessionEpoch,
      coordinatorEpoch: 1,
      expiresAt: cappedEnd(
        now,
        Math.min(payload.coordinatorLeaseSeconds ?? DEFAULT_LEASE_SECONDS, context.policy.leases.coordinatorMaximum),
      ),
    });
    const membership = { missionId, groupId, now, visibilityStartSequence: 1 };
    const owner = activeMembership({
      ...membership,
      membershipId: context.newId(),
      member: command.actor,
      role: 'mission_owner',
    });
    const coordinator = activeMembership({
      ...membership,
      membershipId: context.newId(),
      member: { type: 'agent', id: card.agentId },
      role: 'coordinator',
    });
    return {
      events: [
        {
          kind: 'mission.created',
          groupId,
          aggregateRevision: 1,
          conversationId,
          payload: {
            mission: {
              missionId,
              groupId,
              revision: 1,
              objective: payload.objective,
              definitionOfDone: payload.definitionOfDone,
              missionOwner: command.actor,
              coordinator: {
                agentId: card.agentId,
                agentCardVersion: card.cardVersion,
                coordinatorEpoch: 1,
                leaseId,
              },
              state: 'active',
              budget: payload.budget,
              deadline: payload.deadline,
              approvalPolicy: withoutAbsent(payload.approvalPolicy),
              ...(payload.pinnedProfiles && { pinnedProfiles: payload.pinnedProfiles }),
              createdAt: now,
              ...(payload.extensions && { extensions: payload.extensions }),
            },
            ...(payload.title !== undefined && { title: payload.title }),
            permissions: payload.permissions ?? [],
            followUpOfMissionId: null,
            group: { groupId, missionId, state: 'active', mainConversationId: conversationId, createdAt: now },
            conversation: {
              conversationId,
              missionId,
              groupId,
              type: 'group',
              title: payload.title ?? 'Mission',
              access: { mode: 'group' },
              createdBy: command.actor,
              createdAt: now,
              state: 'active',
              revision: 0,
            },
            memberships: [owner, coordinator],
            coordinatorLease,
          },
        },
      ],
      policyLog: [
        {
          groupId,
          decision: 'mission.create admitted',
          details: { missionId, missionOwner: command.actor, policyVersion: context.policy.version },
          draft: 0,
        },
      ],
    };
  },
};

function check({ command, payload }: Request<MissionCreatePayload>, view: View, context: DecisionContext) {
  const { actor, issuedAt } = command;
  if (!hasRight(context, issuedAt, (policy) => mayOwnMissions(policy, actor.id))) {
    return refuse('AUTH_FORBIDDEN', 'the policy does not let this human own Missions');
  }
  if (command.groupId !== payload.groupId)
    return refuse('INVALID_COMMAND', 'groupId differs between envelope and payload');
  if (view.get('group', payload.groupId)) return refuse('INVALID_STATE_TRANSITION', 'the Group id is already used');
  if (view.get('mission', payload.missionId)) {
    return refuse('INVALID_STATE_TRANSITION', 'the Mission id is already used');
  }
  const limits = limitsOf(payload.budget);
  return (
    checkCoordinatorCard(view.get('agent_card', coordinatorOf(payload)), context.now) ??
    checkHasSession(view, coordinatorOf(payload)) ??
    checkDeadline(payload.deadline, context.now) ??
    (isRefusal(limits) ? limits : undefined)
  );
}

/** The appointed Agent has a Card that is active and not past its end. */
export function checkCoordinatorCard(card: AgentCardAggregate | undefined, now: string): Refusal | undefined {
  if (!card) return refuse('INVALID_COMMAND', 'the Coordinator has no registered Agent Card');
  const lapsed = card.validUntil !== undefined && compareTimestamps(now, card.validUntil) >= 0;
  if (card.status === 'active' && !lapsed) return undefined;
  return refuse('AUTH_FORBIDDEN', "the Coordinator's Agent Card is not active");
}

/** A lease carries a Session Epoch, so its holder must have opened a session at least once. */
function checkHasSession(view: View, agentId: string): Refusal | undefined {
  if (view.get('session', agentId)) return undefined;
  return refuse('INVALID_COMMAND', 'the Coordinator has not opened a session yet');
}

function checkDeadline(deadline: string, now: string): Refusal | undefined {
  if (compareTimestamps(now, deadline) < 0) return undefined;
  return refuse('INVALID_COMMAND', 'the deadline has passed');
}

function coordinatorOf(payload: MissionCreatePayload): string {
  return mustHave(payload.coordinatorId ?? payload.coordinatorAgentId);
}

function mustHave<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('checked before');
  return value;
}

function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
