// work.offer.created: the WorkItem is offered, whoever owned it before is fenced. Carries the whole item.
import type { LeaseAggregate } from '../aggregates.ts';
import { AFTER_IMAGE_TEXTS, setAfterImage, type AfterImage } from '../after-images.ts';
import { CONTEXT_PACKAGE_TEXTS } from '../context-packages.ts';
import type { EventKind } from '../decider.ts';
import { setLeases } from '../work-items.ts';

interface WorkOfferCreated extends AfterImage {
  closedLeases: LeaseAggregate[];
}

export const workOfferCreated: EventKind<WorkOfferCreated> = {
  kind: 'work.offer.created',
  erasable: [...AFTER_IMAGE_TEXTS, ...CONTEXT_PACKAGE_TEXTS, 'emergencyOverride.reason'],

  evolve(view, event) {
    const { workItem, details, closedLeases } = event.payload;
    setLeases(view, closedLeases);
    setAfterImage(view, event, { workItem, details });
  },
};
