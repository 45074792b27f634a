// membership.changed: a member's roles, state, scopes and visibility, whole, under the next Membership Epoch.
import type { MembershipDocument } from '../aggregates.ts';
import { CONTEXT_PACKAGE_TEXTS } from '../context-packages.ts';
import type { EventKind } from '../decider.ts';
import { setMemberships } from '../memberships.ts';

interface MembershipChanged {
  /** One document per role. The Context Package beside them is for the member, not for the state. */
  memberships: MembershipDocument[];
}

export const membershipChanged: EventKind<MembershipChanged> = {
  kind: 'membership.changed',
  erasable: CONTEXT_PACKAGE_TEXTS,

  evolve(view, { payload }) {
    setMemberships(view, payload.memberships);
  },
};
