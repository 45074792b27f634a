// A Membership is one aggregate per (Group, principal); on the wire it is one document per role, sharing the epoch.
import { principalKey, samePrincipal, type Principal } from '../protocol/principals.ts';
import {
  membershipKey,
  type GroupAggregate,
  type MembershipAggregate,
  type MembershipDocument,
  type MembershipRole,
  type MissionAggregate,
} from './aggregates.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import { list, type ListRead } from './reads.ts';
import type { View } from './view.ts';

export function hasActiveRole(membership: MembershipAggregate | undefined, role: MembershipRole): boolean {
  return membership?.state === 'active' && membership.documents.some((document) => document.role === role);
}

export function rolesOf(membership: MembershipAggregate): MembershipRole[] {
  return membership.documents.map((document) => document.role);
}

/** The role that makes this member lead the Mission now: it is neither granted to others nor taken from its holder. */
export function leadingRole(
  { missionOwner, coordinator }: Pick<MissionAggregate['mission'], 'missionOwner' | 'coordinator'>,
  member: Principal,
): 'mission_owner' | 'coordinator' | undefined {
  if (samePrincipal(missionOwner, member)) return 'mission_owner';
  if (member.type === 'agent' && member.id === coordinator.agentId) return 'coordinator';
  return undefined;
}

/** Full visibility: the whole history from the first sequence (MWP-MSN-010d). */
export function seesEverything(membership: MembershipAggregate): boolean {
  return membership.visibilityStartSequence <= 1;
}

/** The Memberships that an Event's payload announces. The documents of one member agree in all they share. */
export function setMemberships(view: View, documents: readonly MembershipDocument[]): void {
  const byMember = new Map<string, MembershipDocument[]>();
  for (const document of documents) {
    const key = principalKey(document.member);
    byMember.set(key, [...(byMember.get(key) ?? []), document]);
  }
  for (const own of byMember.values()) {
    const membership = aggregateOf(own);
    view.set('membership', membershipKey(membership.groupId, membership.member), membership.groupId, membership);
  }
}

function aggregateOf(documents: MembershipDocument[]): MembershipAggregate {
  const first = documents[0];
  if (!first) throw new Error('a Membership has at least one role');
  const membership: MembershipAggregate = {
    member: first.member,
    groupId: first.groupId,
    state: first.state,
    membershipEpoch: first.membershipEpoch,
    visibilityStartSequence: first.visibilityStartSequence,
    documents: [...documents].sort((a, b) => (a.role < b.role ? -1 : 1)),
  };
  if (first.provisionalExpiresAt !== undefined) membership.provisionalExpiresAt = first.provisionalExpiresAt;
  return membership;
}

/** A provisional Membership becomes active with the offer that its member accepts (MWP-MSN-011). */
export function activationEvent({ groupId, member, membershipEpoch, documents }: MembershipAggregate, now: string) {
  const epoch = membershipEpoch + 1;
  const memberships = documents.map(({ provisionalExpiresAt: _end, ...document }): MembershipDocument => ({
    ...document,
    state: 'active',
    membershipEpoch: epoch,
    activatedAt: now,
  }));
  return {
    kind: 'membership.changed',
    groupId,
    aggregateRevision: epoch,
    payload: { memberships, principal: member, membershipEpoch: epoch },
  };
}

export function unendedMembershipsRead(groupId: string): ListRead & { kind: 'membership' } {
  return list('membership', { groupId, states: ['provisional', 'active'] }) as ListRead & { kind: 'membership' };
}

/** As archival leaves it. A provisional one that was not accepted in time ended then, and does not read on (MWP-MSN-011). */
export function archivedMembership(membership: MembershipAggregate, archivedAt: string): MembershipDocument[] {
  const { membershipEpoch, documents } = membership;
  const endedAt = lapseBefore(membership, archivedAt) ?? archivedAt;
  return documents.map((document) => ({ ...document, state: 'ended', membershipEpoch: membershipEpoch + 1, endedAt }));
}

/** Whom archival ended keeps its read access (design section 8); whose Membership ended before does not get it back. */
export function isEndedByArchival(group: GroupAggregate | undefined, membership: MembershipAggregate): boolean {
  if (group?.archivedAt === undefined || membership.state !== 'ended') return false;
  if (lapseBefore(membership, group.archivedAt) !== undefined) return false;
  return membership.documents.every(({ endedAt }) => endedAt === group.archivedAt);
}

/** When a provisional one ran out, if that was by then. */
function lapseBefore({ provisionalExpiresAt: end }: MembershipAggregate, time: string): string | undefined {
  return end !== undefined && compareTimestamps(time, end) >= 0 ? end : undefined;
}

/** Scopes that a role brings when the Command names none. */
export function defaultScopes(role: MembershipRole): string[] {
  return [`role:${role}`];
}

export interface NewMembership {
  membershipId: string;
  missionId: string;
  groupId: string;
  member: Principal;
  role: MembershipRole;
  now: string;
  visibilityStartSequence: number;
}

/** A first, active Membership with epoch 1. */
export function activeMembership(fields: NewMembership): MembershipDocument {
  const { now, ...rest } = fields;
  return {
    ...rest,
    state: 'active',
    membershipEpoch: 1,
    scopes: defaultScopes(fields.role),
    grantedAt: now,
    activatedAt: now,
  };
}
