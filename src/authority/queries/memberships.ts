// Memberships: of a Group, and of one principal over all Groups.
import { membershipKey, type MembershipAggregate } from '../../domain/aggregates.ts';
import { rolesOf } from '../../domain/memberships.ts';
import { principalKey, type Principal } from '../../protocol/principals.ts';
import type { Reader } from '../../store/port.ts';
import type { PageWindow } from './page.ts';

/** The roles of one member share epoch, state and start; `documents` are the normative Memberships, one per role. */
export function shownMembership(membership: MembershipAggregate) {
  const { groupId, member, state, membershipEpoch, visibilityStartSequence, provisionalExpiresAt } = membership;
  return {
    groupId,
    missionId: membership.documents[0]?.missionId,
    member,
    state,
    membershipEpoch,
    roles: rolesOf(membership),
    visibilityStartSequence,
    ...(provisionalExpiresAt !== undefined && { provisionalExpiresAt }),
    documents: membership.documents,
  };
}

export interface MembershipPage {
  memberships: MembershipAggregate[];
  /** A Group id: what to ask after next. */
  next?: string;
}

/** By Group id, whatever their state. The window's `after` is a Group id. */
export async function membershipsOf(
  reader: Reader,
  principal: Principal,
  { after, limit }: PageWindow,
): Promise<MembershipPage> {
  const rows = await reader.page({
    kind: 'membership',
    holder: principalKey(principal),
    // A blank sorts before whatever a URI may hold, so Membership ids of one member sort as their Group ids do.
    ...(after !== undefined && { afterId: membershipKey(after, principal) }),
    limit: limit + 1,
  });
  const memberships = rows.slice(0, limit).map(({ document }) => document as MembershipAggregate);
  const last = memberships.at(-1);
  return rows.length > limit && last ? { memberships, next: last.groupId } : { memberships };
}
