// From one Membership to the next: which documents a change leaves, one per role, and whether it changes anything.
import { equalityKey } from '../protocol/documents/json-value.ts';
import type { Principal } from '../protocol/principals.ts';
import type { MembershipAggregate, MembershipDocument, MembershipRole } from './aggregates.ts';
import { defaultScopes } from './memberships.ts';

export interface MembershipTarget {
  missionId: string;
  groupId: string;
  member: Principal;
  state: 'provisional' | 'active';
  /** Roles that the Command names. */
  roles: readonly MembershipRole[];
  mode: 'add' | 'replace';
  /** Of the named roles; absent: what they have, or what the role brings. */
  scopes?: string[];
  membershipEpoch: number;
  visibilityStartSequence: number;
  provisionalExpiresAt?: string;
  contextPackageId?: string;
  now: string;
}

/** `current` is absent for a newcomer and for whoever's Membership has ended. */
export function changedMembership(
  current: MembershipAggregate | undefined,
  target: MembershipTarget,
  newId: () => string,
): MembershipDocument[] {
  const before = new Map((current?.documents ?? []).map((document) => [document.role, document]));
  const kept = target.mode === 'add' ? [...before.keys()] : [];
  const roles = [...new Set([...kept, ...target.roles])].sort();
  return roles.map((role) => roleDocument(role, before.get(role), target, newId));
}

function roleDocument(
  role: MembershipRole,
  before: MembershipDocument | undefined,
  target: MembershipTarget,
  newId: () => string,
): MembershipDocument {
  const { missionId, groupId, member, state, membershipEpoch, visibilityStartSequence, now } = target;
  const named = target.roles.includes(role) ? target.scopes : undefined;
  const document: MembershipDocument = {
    membershipId: before?.membershipId ?? newId(),
    missionId,
    groupId,
    member,
    role,
    state,
    membershipEpoch,
    scopes: named ?? before?.scopes ?? defaultScopes(role),
    visibilityStartSequence,
    grantedAt: before?.grantedAt ?? now,
  };
  if (target.contextPackageId !== undefined) document.contextPackageId = target.contextPackageId;
  if (target.provisionalExpiresAt !== undefined) document.provisionalExpiresAt = target.provisionalExpiresAt;
  if (state === 'active') document.activatedAt = before?.activatedAt ?? now;
  return document;
}

/** Anything beyond the epoch? */
export function differs(before: readonly MembershipDocument[], after: readonly MembershipDocument[]): boolean {
  const rest = ({ membershipEpoch: _epoch, ...members }: MembershipDocument) => equalityKey(members);
  return before.map(rest).sort().join('\n') !== after.map(rest).sort().join('\n');
}
