// work.accept_offer: one offered Worker takes the WorkItem, atomically and under a new Ownership Epoch (commands.md 1.21,
// WT-4, MWP-WRK-004c). A provisional Membership becomes active with it (MWP-MSN-011).
import type { z } from 'zod';
import { id, positiveInteger, timestamp } from '../../protocol/documents/shapes.ts';
import { scheduleEstimate } from '../../protocol/documents/work-item.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import { acceptedEvent } from '../accepted-work.ts';
import { imageCommitments } from '../after-images.ts';
import { membershipKey, type WorkItemAggregate } from '../aggregates.ts';
import { checkEligibleCard } from '../capabilities.ts';
import type { Command, CommandKind, DecisionContext, Request } from '../decider.ts';
import { grantedEnd } from '../leases.ts';
import { activationEvent, rolesOf } from '../memberships.ts';
import { acceptableOffer } from '../offers.ts';
import { list, one, type ListRead } from '../reads.ts';
import { checkMissionActive, groupOf, hasLiveOwner, missionOf, NO_SUCH_ITEM, workItemIn, workReads } from '../roles.ts';
import type { View } from '../view.ts';
import { isUnfinished } from '../work-items.ts';
import { optional, payload, seconds } from './shapes.ts';

const DEFAULT_LEASE_SECONDS = 900;

const schema = payload({
  workItemId: id,
  ownershipLeaseSeconds: optional(seconds),
  offerId: optional(id),
  /** When the Worker means to have begun; at the latest when its ownership ends. */
  startBy: optional(timestamp),
  scheduleEstimate: optional(scheduleEstimate),
  /** The contract that the Worker read. */
  contractVersion: optional(positiveInteger),
});

export type WorkAcceptOfferPayload = z.infer<typeof schema>;

export const workAcceptOffer: CommandKind<WorkAcceptOfferPayload> = {
  kind: 'work.accept_offer',
  payload: schema,
  actors: ['agent'],
  /** It counts over all Groups, and two acceptances must not both see room. */
  locks: { actor: 'exclusive' },
  group: 'existing',
  provisionalAllowed: true,
  revision(request, view) {
    const item = visibleItem(request, view);
    return isRefusal(item) ? undefined : item.workItem.revision;
  },

  reads: ({ command, payload }) => [
    ...workReads(payload.workItemId),
    one('agent_card', command.actor.id),
    heldRead(command, 'queued'),
    heldRead(command, 'active'),
  ],

  texts({ payload }, view) {
    const item = view.get('work_item', payload.workItemId);
    return item ? imageCommitments(item) : [];
  },

  /** (f): the state before this acceptance, over all Groups. */
  limits({ command }, view, { policy }) {
    const queued = view.list(heldRead(command, 'queued')).length;
    if (queued + 1 > policy.limits.queuedWorkItems) return limitReached('queued_work_items');
    const slots = view.get('agent_card', command.actor.id)?.maxConcurrency ?? policy.limits.activeWorkItems;
    const active = view.list(heldRead(command, 'active')).length;
    if (active > Math.min(policy.limits.activeWorkItems, slots)) return limitReached('active_work_items');
    return undefined;
  },

  decide(request, view, context) {
    const { command } = request;
    const item = visibleItem(request, view);
    if (isRefusal(item)) return item;
    const refusal =
      checkMissionActive(command, view) ??
      checkOffered(command, item, view, context.now) ??
      checkOffer(request, item, context.now) ??
      checkWorker(command, item, view, context);
    if (refusal) return refusal;
    const ownership = ownershipTimes(request, item, view, context);
    if (isRefusal(ownership)) return ownership;
    const membership = view.mustGet('membership', membershipKey(groupOf(command), command.actor));
    const activated = membership.state === 'provisional' ? [activationEvent(membership, context.now)] : [];
    const membershipEpoch = membership.membershipEpoch + activated.length;
    const accepted = acceptedEvent(request, { item, ownership, membershipEpoch }, view, context);
    return { events: [...activated, accepted], primary: activated.length };
  },
};

/** A provisional member knows of the items that were offered to it, and of no other (commands.md (m)). */
function visibleItem({ command, payload }: Request<WorkAcceptOfferPayload>, view: View): WorkItemAggregate | Refusal {
  const item = workItemIn(view, payload.workItemId, groupOf(command));
  if (isRefusal(item)) return item;
  const membership = view.get('membership', membershipKey(groupOf(command), command.actor));
  const asked = item.workItem.offers?.some(({ agentId }) => agentId === command.actor.id) ?? false;
  if (membership?.state !== 'provisional' || asked) return item;
  return refuse('INVALID_COMMAND', NO_SUCH_ITEM);
}

function heldRead({ actor }: Command, state: 'queued' | 'active'): ListRead & { kind: 'work_item' } {
  return list('work_item', { holder: actor.id, states: [state] }) as ListRead & { kind: 'work_item' };
}

function limitReached(limit: 'queued_work_items' | 'active_work_items'): Refusal {
  return refuse('RATE_LIMITED', `the limit ${limit} is reached`, { details: { limit } });
}

function checkOffered(command: Command, item: WorkItemAggregate, view: View, now: string): Refusal | undefined {
  const { state, owner } = item.workItem;
  if (state === 'offered') return undefined;
  const another = owner !== undefined && owner.agentId !== command.actor.id;
  if (another && isUnfinished(item) && hasLiveOwner(item, view, now)) {
    return refuse('WORK_ALREADY_OWNED', 'another Agent owns the WorkItem');
  }
  return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${state}`);
}

function checkOffer({ command, payload }: Request<WorkAcceptOfferPayload>, item: WorkItemAggregate, now: string) {
  const { offers = [], contract } = item.workItem;
  const offer = acceptableOffer(offers, { agentId: command.actor.id, offerId: payload.offerId }, now);
  if (isRefusal(offer)) return offer;
  const { contractVersion } = payload;
  if (contractVersion === undefined || contractVersion === contract.contractVersion) return undefined;
  return refuse('REVISION_CONFLICT', 'the contract was revised', {
    expectedRevision: contractVersion,
    currentRevision: contract.contractVersion,
  });
}

/** Roles and Cards change between offer and acceptance. */
function checkWorker({ actor }: Command, { workItem }: WorkItemAggregate, view: View, { now }: DecisionContext) {
  const membership = view.get('membership', membershipKey(workItem.groupId, actor));
  if (!membership || !rolesOf(membership).includes('worker')) {
    return refuse('AUTH_FORBIDDEN', 'the Membership does not have the worker role');
  }
  return checkEligibleCard(view.get('agent_card', actor.id), workItem.contract.requiredCapabilities, now);
}

function ownershipTimes(
  { payload }: Request<WorkAcceptOfferPayload>,
  { workItem }: WorkItemAggregate,
  view: View,
  { now, policy }: DecisionContext,
): { expiresAt: string; startBy: string } | Refusal {
  const asked = Math.min(payload.ownershipLeaseSeconds ?? DEFAULT_LEASE_SECONDS, policy.leases.ownershipMaximum);
  const { deadline } = missionOf(view, workItem.groupId).mission;
  const expiresAt = grantedEnd(now, asked, workItem.contract.deadline, deadline);
  if (isRefusal(expiresAt)) return expiresAt;
  const startBy = payload.startBy ?? expiresAt;
  if (compareTimestamps(now, startBy) >= 0) return refuse('INVALID_COMMAND', 'startBy has passed');
  // The granted lease may be shorter than the one that startBy was chosen for.
  return { expiresAt, startBy: compareTimestamps(startBy, expiresAt) > 0 ? expiresAt : startBy };
}
