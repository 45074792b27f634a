// membership.ended: the member is out, and the offers that waited for it are withdrawn. What it owned follows by itself.
import type { Committed, MembershipDocument } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { setMemberships } from '../memberships.ts';
import { changeWorkItem, withdrawn } from '../work-items.ts';

interface MembershipEnded {
  memberships: MembershipDocument[];
  withdrawnOffers: { workItemId: string; agentId: string; workItemRevision: number }[];
  reason?: Committed;
}

export const membershipEnded: EventKind<MembershipEnded> = {
  kind: 'membership.ended',
  erasable: ['reason'],

  evolve(view, { payload: { memberships, withdrawnOffers }, occurredAt }) {
    setMemberships(view, memberships);
    for (const { workItemId, agentId, workItemRevision } of withdrawnOffers) {
      const step = { aggregateRevision: workItemRevision, occurredAt };
      changeWorkItem(view, step, workItemId, ({ workItem, details }) => {
        const offers = (workItem.offers ?? []).map((offer) => (offer.agentId === agentId ? withdrawn([offer]) : offer));
        return { workItem: { ...workItem, offers: offers.flat() }, details };
      });
    }
  },
};
