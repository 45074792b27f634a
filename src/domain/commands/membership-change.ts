// membership.change: the MissionOwner or Coordinator admits a member, or changes its roles, state or visibility
// (commands.md 1.11). Each accepted change is one more Membership Epoch.
import { z } from 'zod';
import type { ContextPackage } from '../../protocol/documents/context-package.ts';
import { actor, id, jsonObject, operation } from '../../protocol/documents/shapes.ts';
import { safeInteger, timestamp, uniqueAtLeastOne } from '../../protocol/documents/shapes.ts';
import type { Principal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import { membershipKey, type MembershipAggregate, type MembershipDocument } from '../aggregates.ts';
import { checkContextPackage, contextPackageReads } from '../context-packages.ts';
import { hasEnded } from '../decide.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { cappedEnd } from '../leases.ts';
import { changedMembership, differs } from '../membership-changes.ts';
import { leadingRole } from '../memberships.ts';
import { one } from '../reads.ts';
import { checkMissionNotTerminal, checkOwnerOrCoordinator, coordinatorReads, groupOf, missionOf } from '../roles.ts';
import type { View } from '../view.ts';
import { optional, payload } from './shapes.ts';

const role = z.enum(['mission_owner', 'coordinator', 'worker', 'reviewer', 'observer', 'work_delegate']);

const schema = payload({
  principal: actor,
  roles: uniqueAtLeastOne(role),
  mode: optional(z.enum(['add', 'replace'])),
  /** Of the roles named here. */
  scopes: optional(uniqueAtLeastOne(operation(160))),
  provisional: optional(z.boolean()),
  provisionalExpiresAt: optional(timestamp),
  /** The last sequence that stays hidden; 0 shows the whole history. */
  visibilityAfterSequence: optional(safeInteger),
  contextPackage: optional(jsonObject),
  contextPackageId: optional(id),
});

export type MembershipChangePayload = z.infer<typeof schema>;

type ChangeRequest = Request<MembershipChangePayload>;

export const membershipChange: CommandKind<MembershipChangePayload> = {
  kind: 'membership.change',
  payload: schema,
  actors: ['human', 'agent'],
  group: 'existing',

  documents: ({ contextPackage }) =>
    contextPackage ? [{ path: 'contextPackage', kind: 'context-package', value: contextPackage }] : [],
  revision: (request, view) => view.get('membership', subjectKey(request))?.membershipEpoch ?? 0,

  reads: (request) => {
    const { command, payload } = request;
    return [
      ...coordinatorReads(command),
      one('membership', subjectKey(request)),
      ...(payload.principal.type === 'agent' ? [one('agent_card', payload.principal.id)] : []),
      ...contextPackageReads(groupOf(command), payload.contextPackage),
    ];
  },

  decide(request, view, context) {
    const { command, payload } = request;
    const stored = view.get('membership', subjectKey(request));
    const current = stored && !hasEnded(stored, context.now) ? stored : undefined;
    const refusal =
      checkOwnerOrCoordinator(command, view, context.now) ??
      checkMissionNotTerminal(command, view) ??
      checkSubject(payload.principal, view) ??
      checkLeadership(request, view) ??
      checkProvisional(payload, current, context) ??
      checkVisibility(payload, context) ??
      checkContext(request, view, context);
    if (refusal) return refusal;
    const membershipEpoch = (stored?.membershipEpoch ?? 0) + 1;
    const memberships = target(request, current, membershipEpoch, view, context);
    // Two members of the staff who admit the same Worker at once: one success (MWP-EVT-007b).
    if (current && !payload.contextPackage && !differs(current.documents, memberships)) {
      return refuse('INVALID_STATE_TRANSITION', 'the Membership is like that already');
    }
    return {
      events: [
        {
          kind: 'membership.changed',
          groupId: groupOf(command),
          aggregateRevision: membershipEpoch,
          payload: {
            principal: payload.principal,
            membershipEpoch,
            memberships,
            ...(payload.contextPackage && {
              contextPackage: payload.contextPackage,
              contextPackageHash: context.documentHashes.get('contextPackage'),
            }),
          },
        },
      ],
    };
  },
};

function subjectKey({ command, payload }: ChangeRequest): string {
  return membershipKey(groupOf(command), payload.principal);
}

/** MWP-MSN-010: members are Agents, which the Organization vouches for, and humans; services go by policy. */
function checkSubject(principal: Principal, view: View): Refusal | undefined {
  if (principal.type === 'service') return refuse('INVALID_COMMAND', 'a service is no member of a Group');
  if (principal.type === 'human' || view.get('agent_card', principal.id)) return undefined;
  return refuse('INVALID_COMMAND', 'the Agent has no registered Agent Card');
}

/** MWP-MSN-010d: who leads keeps the role, the state and the whole history; nobody else gets such a role here. */
function checkLeadership({ command, payload }: ChangeRequest, view: View): Refusal | undefined {
  const leading = leadingRole(missionOf(view, groupOf(command)).mission, payload.principal);
  const usurped = (['mission_owner', 'coordinator'] as const).some(
    (role) => role !== leading && payload.roles.includes(role),
  );
  if (usurped) return refuse('AUTH_FORBIDDEN', 'the Mission names its owner and Coordinator');
  if (!leading) return undefined;
  const demoted = payload.mode === 'replace' && !payload.roles.includes(leading);
  if (!demoted && !payload.provisional && (payload.visibilityAfterSequence ?? 0) === 0) return undefined;
  return refuse('AUTH_FORBIDDEN', 'owner and Coordinator keep their role and see the whole history');
}

function checkProvisional(
  { provisional, provisionalExpiresAt, contextPackage, contextPackageId }: MembershipChangePayload,
  current: MembershipAggregate | undefined,
  { now }: DecisionContext,
): Refusal | undefined {
  if (!provisional) {
    if (provisionalExpiresAt === undefined) return undefined;
    return refuse('INVALID_COMMAND', 'only a provisional Membership has provisionalExpiresAt');
  }
  if (current?.state === 'active') {
    return refuse('INVALID_STATE_TRANSITION', 'an active Membership does not become provisional');
  }
  if (provisionalExpiresAt === undefined || compareTimestamps(now, provisionalExpiresAt) >= 0) {
    return refuse('INVALID_COMMAND', 'a provisional Membership needs provisionalExpiresAt, and in the future');
  }
  if (contextPackage ?? contextPackageId ?? current?.documents[0]?.contextPackageId) return undefined;
  return refuse('INVALID_COMMAND', 'a provisional Membership needs a Context Package');
}

function checkVisibility({ visibilityAfterSequence }: MembershipChangePayload, { headSequence }: DecisionContext) {
  if ((visibilityAfterSequence ?? 0) <= headSequence) return undefined;
  return refuse('INVALID_COMMAND', 'visibilityAfterSequence is beyond the head of the Group');
}

function checkContext({ command, payload }: ChangeRequest, view: View, { headSequence }: DecisionContext) {
  if (!payload.contextPackage) return undefined;
  const contextPackage = payload.contextPackage as ContextPackage;
  if (payload.contextPackageId !== undefined && payload.contextPackageId !== contextPackage.contextPackageId) {
    return refuse('INVALID_COMMAND', 'contextPackageId differs from that of the Context Package');
  }
  return checkContextPackage(contextPackage, groupOf(command), view, headSequence);
}

function target(
  { command, payload }: ChangeRequest,
  current: MembershipAggregate | undefined,
  membershipEpoch: number,
  view: View,
  context: DecisionContext,
): MembershipDocument[] {
  const { now, policy, headSequence } = context;
  const { missionId, groupId } = missionOf(view, groupOf(command)).mission;
  const { principal: member, visibilityAfterSequence, provisionalExpiresAt } = payload;
  const contextPackageId =
    (payload.contextPackage as ContextPackage | undefined)?.contextPackageId ??
    payload.contextPackageId ??
    current?.documents[0]?.contextPackageId;
  // A newcomer sees from its own admission on; a member keeps what it sees unless the Command says otherwise.
  const keptStart = current?.visibilityStartSequence ?? headSequence + 1;
  const change = {
    missionId,
    groupId,
    member,
    state: payload.provisional ? 'provisional' : 'active',
    roles: payload.roles,
    mode: payload.mode ?? 'add',
    ...(payload.scopes && { scopes: payload.scopes }),
    membershipEpoch,
    visibilityStartSequence: visibilityAfterSequence === undefined ? keptStart : visibilityAfterSequence + 1,
    ...(provisionalExpiresAt !== undefined && {
      provisionalExpiresAt: cappedEnd(now, policy.leases.provisionalMaximum, provisionalExpiresAt),
    }),
    ...(contextPackageId !== undefined && { contextPackageId }),
    now,
  } as const;
  return changedMembership(current, change, () => context.newId());
}
