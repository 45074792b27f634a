// The Event of an accepted offer: the owner with its pins, the ownership lease, and the item as it is from now on.
import { withTexts } from './after-images.ts';
import type { LeaseAggregate, ScheduleEstimate, WorkItemAggregate, WorkOwner } from './aggregates.ts';
import { pinsFor } from './capabilities.ts';
import type { DecisionContext, EventDraft, Request } from './decider.ts';
import { openLease } from './leases.ts';
import { wonOffers } from './offers.ts';
import type { View } from './view.ts';
import { workEvent } from './work-items.ts';

export interface Acceptance {
  item: WorkItemAggregate;
  ownership: { expiresAt: string; startBy: string };
  /** The acceptor's, after its Membership was activated. */
  membershipEpoch: number;
}

export function acceptedEvent(
  { command, payload }: Request<{ scheduleEstimate?: ScheduleEstimate | undefined }>,
  { item, ownership, membershipEpoch }: Acceptance,
  view: View,
  { now, newId, textOf }: DecisionContext,
): EventDraft {
  const { workItem, details } = withTexts(item, textOf);
  const { workItemId, missionId, groupId, contract } = workItem;
  const card = view.mustGet('agent_card', command.actor.id);
  const ownershipEpoch = details.ownershipEpoch + 1;
  const ownershipLease: LeaseAggregate = openLease(now, {
    leaseId: newId(),
    leaseType: 'ownership',
    missionId,
    groupId,
    workItemId,
    holderAgentId: card.agentId,
    sessionEpoch: command.sessionEpoch ?? 0,
    ownershipEpoch,
    startBy: ownership.startBy,
    expiresAt: ownership.expiresAt,
  });
  const owner: WorkOwner = {
    agentId: card.agentId,
    agentCardVersion: card.cardVersion,
    capabilityPins: pinsFor(card.capabilities, contract.requiredCapabilities),
    ownershipEpoch,
    ownershipLeaseId: ownershipLease.leaseId,
    acceptedAt: now,
  };
  const { scheduleEstimate } = payload;
  return {
    kind: 'work.offer.accepted',
    ...workEvent(item),
    payload: {
      workItemId,
      assigneeId: card.agentId,
      ownershipEpoch,
      ownershipLeaseExpiresAt: ownershipLease.expiresAt,
      agentCardVersion: card.cardVersion,
      capabilityPins: owner.capabilityPins,
      membershipEpoch,
      ownershipLease,
      workItem: {
        ...workItem,
        revision: workItem.revision + 1,
        state: 'queued',
        owner,
        offers: wonOffers(workItem.offers ?? [], card.agentId, now),
        ...(scheduleEstimate && { scheduleEstimate }),
        updatedAt: now,
      },
      details: { ...details, ownershipEpoch },
    },
  };
}
