// Who may see which Event: the Membership and its visibility start decide (MWP-MSN-010, -012). Pure.
import type { Principal } from '../protocol/principals.ts';
import { membershipKey, type GroupAggregate, type MembershipAggregate } from './aggregates.ts';
import { isEndedByArchival } from './memberships.ts';
import type { View } from './view.ts';

/** Of a Group's Events, those from the visibility start on; an ended Membership sees none, unless archival ended it. */
export function membershipSees(
  group: GroupAggregate | undefined,
  membership: MembershipAggregate | undefined,
  sequence: number,
): boolean {
  if (!membership || (membership.state === 'ended' && !isEndedByArchival(group, membership))) return false;
  return sequence >= membership.visibilityStartSequence;
}

/**
 * May whoever brought the Command see this Event of its own transition? Services were authorised by policy for the
 * Command and see what it did; the Organization's own Events are not secret to whoever could cause them.
 */
export function seesEvent(view: View, principal: Principal, groupId: string | undefined, sequence: number): boolean {
  if (groupId === undefined || principal.type === 'service') return true;
  const key = membershipKey(groupId, principal);
  if (!view.has('membership', key)) return false;
  const group = view.has('group', groupId) ? view.get('group', groupId) : undefined;
  return membershipSees(group, view.get('membership', key), sequence);
}
