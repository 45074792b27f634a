// Who may see which Event: the Membership and its visibility start decide (MWP-MSN-010, -012). Pure.
import type { Principal } from '../protocol/principals.ts';
import { membershipKey, type MembershipAggregate } from './aggregates.ts';
import type { View } from './view.ts';

/** Of a Group's Events, those from the visibility start on; an ended Membership sees none. */
export function membershipSees(membership: MembershipAggregate | undefined, sequence: number): boolean {
  if (!membership || membership.state === 'ended') return false;
  return sequence >= membership.visibilityStartSequence;
}

/**
 * May whoever brought the Command see this Event of its own transition? Services were authorised by policy for the
 * Command and see what it did; the Organization's own Events are not secret to whoever could cause them.
 */
export function seesEvent(view: View, principal: Principal, groupId: string | undefined, sequence: number): boolean {
  if (groupId === undefined || principal.type === 'service') return true;
  const key = membershipKey(groupId, principal);
  return view.has('membership', key) && membershipSees(view.get('membership', key), sequence);
}
