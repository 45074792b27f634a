// work.contract.revised: the WorkItem has the next version of its contract; its account has the new limits.
import { workItemAccountId } from '../aggregates.ts';
import { applyReleases, changeLimit } from '../accounts.ts';
import { AFTER_IMAGE_TEXTS, setAfterImage, type AfterImage } from '../after-images.ts';
import type { Release } from '../allocation.ts';
import { acceptedLimits } from '../budget.ts';
import type { EventKind } from '../decider.ts';

interface WorkContractRevised extends AfterImage {
  workItemId: string;
  releases: Release[];
}

export const workContractRevised: EventKind<WorkContractRevised> = {
  kind: 'work.contract.revised',
  erasable: AFTER_IMAGE_TEXTS,

  evolve(view, event) {
    const { workItemId, workItem, details, releases } = event.payload;
    const { budget } = workItem.contract;
    setAfterImage(view, event, { workItem, details });
    applyReleases(view, releases);
    changeLimit(view, workItemAccountId(workItemId), acceptedLimits(budget), budget.currency);
  },
};
