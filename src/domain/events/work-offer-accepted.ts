// work.offer.accepted: the WorkItem is queued with its new owner, who holds an ownership lease. Carries the whole item.
import type { LeaseAggregate } from '../aggregates.ts';
import { AFTER_IMAGE_TEXTS, setAfterImage, type AfterImage } from '../after-images.ts';
import type { EventKind } from '../decider.ts';
import { setLeases } from '../work-items.ts';

interface WorkOfferAccepted extends AfterImage {
  ownershipLease: LeaseAggregate;
}

export const workOfferAccepted: EventKind<WorkOfferAccepted> = {
  kind: 'work.offer.accepted',
  erasable: AFTER_IMAGE_TEXTS,

  evolve(view, event) {
    const { workItem, details, ownershipLease } = event.payload;
    setLeases(view, [ownershipLease]);
    setAfterImage(view, event, { workItem, details });
  },
};
