// The whole WorkItem in an Event (work.offer.created, work.offer.accepted, work.contract.revised), so that a member who
// may not see earlier Events can start from it.
//
// In the payload its texts are texts where they still exist. Folded, they are commitments of this Event, other ones than
// those that the item has had since it was authorized. So a view that holds the item keeps the commitments that it has,
// as long as the contract is of the same version; only a view without the item starts from the image. In this way a full
// member's fold and the authority agree, whatever was erased meanwhile: erasing one copy of a text disturbs no other.
import type { Committed, WorkItemAggregate, WorkItemDetails, WorkItemDocument } from './aggregates.ts';
import {
  contractCommitments,
  contractTextPaths,
  mapContractTexts,
  mapProgressTexts,
  progressCommitments,
  progressTextPaths,
  textOr,
} from './contract-texts.ts';
import type { FoldableEvent } from './decider.ts';
import type { View } from './view.ts';

export const AFTER_IMAGE_TEXTS = [
  ...contractTextPaths('workItem.contract'),
  ...progressTextPaths('workItem.progress'),
  'details.blocker',
  'details.endReason',
];

export interface AfterImage<T = Committed> {
  workItem: WorkItemDocument<T>;
  details: WorkItemDetails<T>;
}

/** What `CommandKind.texts` asks for, when an after-image of this item is to be written. */
export function imageCommitments({ workItem, details }: WorkItemAggregate): string[] {
  return [
    ...contractCommitments(workItem.contract),
    ...(workItem.progress ? progressCommitments(workItem.progress) : []),
    ...(details.blocker ? [details.blocker.commitment] : []),
    ...(details.endReason ? [details.endReason.commitment] : []),
  ];
}

export function withTexts(
  { workItem, details }: WorkItemAggregate,
  textOf: (commitment: string) => unknown,
): WorkItemAggregate<string> {
  const text = textOr(textOf);
  const { progress, contract, ...document } = workItem;
  const { blocker, endReason, ...others } = details;
  return {
    workItem: {
      ...document,
      contract: mapContractTexts(contract, text),
      ...(progress && { progress: mapProgressTexts(progress, text) }),
    },
    details: {
      ...others,
      ...(blocker && { blocker: text(blocker) }),
      ...(endReason && { endReason: text(endReason) }),
    },
  };
}

export function setAfterImage(
  view: View,
  event: Pick<FoldableEvent, 'aggregateRevision' | 'occurredAt'>,
  image: AfterImage,
) {
  const { workItemId, groupId } = image.workItem;
  const known = view.has('work_item', workItemId) ? view.mustGet('work_item', workItemId) : undefined;
  const { workItem, details } = known ? keepTexts(image, known) : image;
  const revision = event.aggregateRevision ?? workItem.revision;
  view.set('work_item', workItemId, groupId, {
    workItem: { ...workItem, revision, updatedAt: event.occurredAt },
    details,
  });
}

function keepTexts({ workItem, details }: AfterImage, known: WorkItemAggregate): AfterImage {
  const sameContract = workItem.contract.contractVersion === known.workItem.contract.contractVersion;
  return {
    workItem: {
      ...workItem,
      contract: sameContract ? known.workItem.contract : workItem.contract,
      ...(workItem.progress && known.workItem.progress && { progress: known.workItem.progress }),
    },
    details: {
      ...details,
      ...(details.blocker && known.details.blocker && { blocker: known.details.blocker }),
      ...(details.endReason && known.details.endReason && { endReason: known.details.endReason }),
    },
  };
}
