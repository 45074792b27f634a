// work.offer: an author offers a WorkItem to capable members, on a stated basis and perhaps under a corrected contract
// (commands.md 1.20, WT-3). Offers reserve nothing; whoever owned the item and cannot act any more is fenced.
import type { z } from 'zod';
import type { ContextPackage } from '../../protocol/documents/context-package.ts';
import { id, jsonObject, uniqueAtLeastOne } from '../../protocol/documents/shapes.ts';
import { selectionBasis } from '../../protocol/documents/work-item.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { imageCommitments, withTexts } from '../after-images.ts';
import type { MissionAggregate, Offer, WorkItemAggregate } from '../aggregates.ts';
import { checkAuthor, emergencyOverride, overrideEntry } from '../authorship.ts';
import { candidateReads, checkBasis, checkCandidateCount, checkCandidates } from '../candidates.ts';
import { checkContextPackage, contextPackageReads } from '../context-packages.ts';
import { moreRevisionReads, revise, revisionReads } from '../contract-revision.ts';
import type { CommandKind, DecisionContext, EventDraft, Request } from '../decider.ts';
import { grantedEnd } from '../leases.ts';
import { mergedOffers } from '../offers.ts';
import { hasOutgrown, ownersCardRead } from '../pinned-cards.ts';
import { one } from '../reads.ts';
import {
  checkMissionActive,
  coordinatorReads,
  groupOf,
  hasLiveOwner,
  missionOf,
  workItemIn,
  workLeasesRead,
  workReads,
} from '../roles.ts';
import type { View } from '../view.ts';
import { closedLeases, fenced, workEvent, workItemRevision } from '../work-items.ts';
import { optional, payload, seconds } from './shapes.ts';

const DEFAULT_OFFER_SECONDS = 300;
/** Candidates that one Command may name; the policy's own bound is lower. */
const CANDIDATES_MAXIMUM = 100;
const OFFERABLE = ['open', 'offered', 'queued', 'active', 'blocked', 'failed'];

const schema = payload({
  workItemId: id,
  candidateAgentIds: uniqueAtLeastOne(id).refine(({ length }) => length <= CANDIDATES_MAXIMUM, 'are too many'),
  selectionBasis,
  offerExpiresInSeconds: optional(seconds),
  delegationGrantId: optional(id),
  contract: optional(jsonObject),
  contextPackage: optional(jsonObject),
  emergencyOverride: optional(emergencyOverride),
});

export type WorkOfferPayload = z.infer<typeof schema>;

export const workOffer: CommandKind<WorkOfferPayload> = {
  kind: 'work.offer',
  payload: schema,
  actors: ['agent', 'human'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  documents: ({ contextPackage }) =>
    contextPackage ? [{ path: 'contextPackage', kind: 'context-package', value: contextPackage }] : [],

  reads: ({ command, payload }) => [
    ...coordinatorReads(command),
    ...workReads(payload.workItemId),
    ...candidateReads(groupOf(command), payload.candidateAgentIds),
    ...contextPackageReads(groupOf(command), payload.contextPackage),
    ...revisionReads(groupOf(command), payload.contract),
  ],

  moreReads({ command, payload }, view) {
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return [];
    const { childMissionId } = item.details;
    return [
      ...moreRevisionReads(view, item, payload.contract),
      ...ownersCardRead(item),
      ...(childMissionId === undefined ? [] : [one('mission', childMissionId)]),
    ];
  },

  texts({ command, payload }, view) {
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    return isRefusal(item) ? [] : imageCommitments(item);
  },

  decide(request, view, context) {
    const { command, payload } = request;
    const early = checkAuthor(command, payload, view, context.now) ?? checkMissionActive(command, view);
    if (early) return early;
    const held = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(held)) return held;
    const state = checkState(held, view, context.now) ?? checkPackage(request, view, context);
    if (state) return state;
    const mission = missionOf(view, groupOf(command));
    const item = withTexts(held, context.textOf);
    const revision = payload.contract && revise(item, payload.contract, mission, view, context);
    if (isRefusal(revision)) return revision;
    const offered = offer(request, revision?.revised ?? item, mission, view, context);
    if (isRefusal(offered)) return offered;
    const events = [...(revision ? [revision.event] : []), offered];
    const primary = events.length - 1;
    return { events, primary, ...overrideEntry(command, payload, payload.workItemId, primary) };
  },
};

function checkState(item: WorkItemAggregate, view: View, now: string): Refusal | undefined {
  const { workItem, details } = item;
  if (!OFFERABLE.includes(workItem.state)) {
    return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${workItem.state}`);
  }
  // Who executes has to hand over first; who waits and may not begin holds nobody up.
  const isHeld = hasLiveOwner(item, view, now) && (workItem.state === 'active' || !hasOutgrown(item, view));
  if (isHeld) return refuse('INVALID_STATE_TRANSITION', 'the WorkItem has a live owner');
  const child = details.childMissionId === undefined ? undefined : view.get('mission', details.childMissionId);
  if (!child || child.mission.state === 'failed' || child.mission.state === 'cancelled') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'a child Mission works on the WorkItem');
}

/** MWP-MSN-011: what a candidate needs to judge the offer, made by a member that sees everything. */
function checkPackage({ command, payload }: Request<WorkOfferPayload>, view: View, { headSequence }: DecisionContext) {
  if (!payload.contextPackage) return undefined;
  const contextPackage = payload.contextPackage as unknown as ContextPackage;
  if (contextPackage.workItemId !== undefined && contextPackage.workItemId !== payload.workItemId) {
    return refuse('INVALID_COMMAND', 'the Context Package is about another WorkItem');
  }
  return checkContextPackage(contextPackage, groupOf(command), view, headSequence);
}

/** `item` is as the Event before this one, if there is one, leaves it. */
function offer(
  { payload }: Request<WorkOfferPayload>,
  item: WorkItemAggregate<string>,
  { mission }: MissionAggregate,
  view: View,
  context: DecisionContext,
): EventDraft | Refusal {
  const { now, newId, policy } = context;
  const { workItemId, groupId, contract } = item.workItem;
  const required = contract.requiredCapabilities;
  const refusal =
    checkBasis(payload.selectionBasis, required) ??
    checkCandidates(payload.candidateAgentIds, { groupId, required, now }, view);
  if (refusal) return refusal;
  const asked = Math.min(payload.offerExpiresInSeconds ?? DEFAULT_OFFER_SECONDS, policy.leases.offerMaximum);
  const expiresAt = grantedEnd(now, asked, contract.deadline, mission.deadline);
  if (isRefusal(expiresAt)) return expiresAt;
  const fresh = payload.candidateAgentIds.map((agentId): Offer => {
    const agentCardVersion = view.mustGet('agent_card', agentId).cardVersion;
    return { offerId: newId(), agentId, agentCardVersion, expiresAt, status: 'pending' };
  });
  const offers = mergedOffers(item.workItem.offers ?? [], fresh, now);
  const tooMany = checkCandidateCount(offers, policy.offerCandidatesMaximum, now);
  if (tooMany) return tooMany;
  const { contextPackage, emergencyOverride } = payload;
  return {
    kind: 'work.offer.created',
    ...workEvent(item),
    payload: {
      workItemId,
      candidateAgentIds: payload.candidateAgentIds,
      offerExpiresAt: expiresAt,
      selectionBasis: payload.selectionBasis,
      ...offeredItem(item, offers, payload, now),
      closedLeases: closedLeases(view.list(workLeasesRead(workItemId)), 'revoked', 'reassigned', now),
      ...(contextPackage && {
        contextPackage,
        contextPackageHash: context.documentHashes.get('contextPackage'),
      }),
      ...(emergencyOverride && { emergencyOverride }),
    },
  };
}

/** Nobody owns it; what its last owner or child Mission left behind as a state of affairs is gone. */
function offeredItem(
  item: WorkItemAggregate<string>,
  offers: Offer[],
  { selectionBasis }: WorkOfferPayload,
  now: string,
): WorkItemAggregate<string> {
  const { workItem, details } = item.workItem.owner ? fenced(item) : item;
  const { submission: _submission, scheduleEstimate: _estimate, ...document } = workItem;
  const { endReason: _endReason, blocker: _blocker, childMissionId: _child, ...others } = details;
  const revision = workItem.revision + 1;
  return {
    workItem: { ...document, revision, state: 'offered', offers, selectionBasis, updatedAt: now },
    details: others,
  };
}
