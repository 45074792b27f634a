// membership.end: a member leaves, and whatever it held is free for others (commands.md 1.12).
import type { z } from 'zod';
import { actor } from '../../protocol/documents/shapes.ts';
import type { Principal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import { membershipKey, type MembershipDocument, type WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind, DecisionContext, EventDraft, Request } from '../decider.ts';
import { interrupted } from '../interruptions.ts';
import { leadingRole } from '../memberships.ts';
import { isLiveOffer } from '../offers.ts';
import { list, one, type ListRead } from '../reads.ts';
import { checkMissionNotTerminal, checkOwnerOrCoordinator, coordinatorReads, groupOf, missionOf } from '../roles.ts';
import type { View } from '../view.ts';
import { optional, payload, reason } from './shapes.ts';

const schema = payload({ principal: actor, reason: optional(reason) });

export type MembershipEndPayload = z.infer<typeof schema>;

type EndRequest = Request<MembershipEndPayload>;

/** Its result is delivered, so a `submitted` item needs no owner any more and is left to the reviewers. */
const HELD_STATES = ['queued', 'active', 'blocked'];

export const membershipEnd: CommandKind<MembershipEndPayload> = {
  kind: 'membership.end',
  payload: schema,
  actors: ['human', 'agent'],
  group: 'existing',
  revision: (request, view) => view.get('membership', subjectKey(request))?.membershipEpoch ?? 0,

  reads: (request) => [
    ...coordinatorReads(request.command),
    one('membership', subjectKey(request)),
    heldRead(request),
    heldLeasesRead(request),
    offeredRead(request),
  ],

  decide(request, view, context) {
    const { command, payload } = request;
    const refusal =
      checkOwnerOrCoordinator(command, view, context.now) ??
      checkMissionNotTerminal(command, view) ??
      checkSubject(request, view);
    if (refusal) return refusal;
    const memberships = endedDocuments(request, view, context.now);
    const membershipEpoch = memberships[0]?.membershipEpoch;
    if (membershipEpoch === undefined) throw new Error('a Membership has at least one role');
    const ended: EventDraft = {
      kind: 'membership.ended',
      groupId: groupOf(command),
      aggregateRevision: membershipEpoch,
      payload: {
        principal: payload.principal,
        membershipEpoch,
        memberships,
        withdrawnOffers: withdrawnOffers(request, view, context.now),
        ...(payload.reason !== undefined && { reason: payload.reason }),
      },
    };
    return { events: [ended, ...interruptions(request, view, context)] };
  },
};

function subjectKey({ command, payload }: EndRequest): string {
  return membershipKey(groupOf(command), payload.principal);
}

/** Only Agents own work; for a human these lists are empty. */
function heldRead({ command, payload }: EndRequest): ListRead & { kind: 'work_item' } {
  const where = { groupId: groupOf(command), holder: payload.principal.id, states: HELD_STATES };
  return list('work_item', where) as ListRead & { kind: 'work_item' };
}

function heldLeasesRead({ command, payload }: EndRequest): ListRead & { kind: 'lease' } {
  const where = { groupId: groupOf(command), holder: payload.principal.id, states: ['active'] };
  return list('lease', where) as ListRead & { kind: 'lease' };
}

function offeredRead({ command }: EndRequest): ListRead & { kind: 'work_item' } {
  return list('work_item', { groupId: groupOf(command), states: ['offered'] }) as ListRead & { kind: 'work_item' };
}

function checkSubject({ command, payload }: EndRequest, view: View): Refusal | undefined {
  if (leadingRole(missionOf(view, groupOf(command)).mission, payload.principal)) {
    return refuse('AUTH_FORBIDDEN', 'the Memberships of owner and Coordinator do not end');
  }
  const membership = view.get('membership', membershipKey(groupOf(command), payload.principal));
  if (membership && membership.state !== 'ended') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'there is no such Membership, or it has ended');
}

function endedDocuments({ command, payload }: EndRequest, view: View, now: string): MembershipDocument[] {
  const membership = view.mustGet('membership', membershipKey(groupOf(command), payload.principal));
  const membershipEpoch = membership.membershipEpoch + 1;
  return membership.documents.map((document) => ({ ...document, state: 'ended', membershipEpoch, endedAt: now }));
}

/** Offers that wait for this Agent; the items stay `offered` for whoever else was asked. */
function withdrawnOffers(request: EndRequest, view: View, now: string) {
  const { principal } = request.payload;
  if (principal.type !== 'agent') return [];
  return view
    .list(offeredRead(request))
    .filter((item) => waitsFor(item, principal, now))
    .map(({ workItem: { workItemId, revision } }) => ({
      workItemId,
      agentId: principal.id,
      workItemRevision: revision + 1,
    }));
}

function waitsFor({ workItem }: WorkItemAggregate, { id }: Principal, now: string): boolean {
  return (workItem.offers ?? []).some((offer) => offer.agentId === id && isLiveOffer(offer, now));
}

function interruptions(request: EndRequest, view: View, context: DecisionContext): EventDraft[] {
  if (request.payload.principal.type !== 'agent') return [];
  const leases = view.list(heldLeasesRead(request));
  return view.list(heldRead(request)).map((item) =>
    interrupted(
      item,
      leases.filter(({ workItemId }) => workItemId === item.workItem.workItemId),
      { reason: 'membership_ended', causedBy: 0 },
      context,
    ),
  );
}
