// Whom work may be offered to: capable members with the worker role, on a stated basis (commands.md 1.20, MWP-WRK-006).
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { membershipKey, type CapabilityRef, type Offer, type SelectionBasis } from './aggregates.ts';
import { checkEligibleCard, satisfies } from './capabilities.ts';
import { hasEnded } from './decide.ts';
import { rolesOf } from './memberships.ts';
import { isLiveOffer } from './offers.ts';
import { one, type Read } from './reads.ts';
import type { View } from './view.ts';

export function candidateReads(groupId: string, agentIds: readonly string[]): Read[] {
  return agentIds.flatMap((id) => [
    one('membership', membershipKey(groupId, { type: 'agent', id })),
    one('agent_card', id),
  ]);
}

export function checkCandidates(
  agentIds: readonly string[],
  { groupId, required, now }: { groupId: string; required: readonly CapabilityRef[]; now: string },
  view: View,
): Refusal | undefined {
  for (const id of agentIds) {
    const refusal = checkMember(groupId, id, view, now) ?? checkEligibleCard(view.get('agent_card', id), required, now);
    if (refusal) return { ...refusal, details: { agentId: id } };
  }
  return undefined;
}

function checkMember(groupId: string, id: string, view: View, now: string): Refusal | undefined {
  const membership = view.get('membership', membershipKey(groupId, { type: 'agent', id }));
  if (!membership || hasEnded(membership, now)) {
    return refuse('MEMBERSHIP_REQUIRED', 'a candidate is no member of this Group');
  }
  if (rolesOf(membership).includes('worker')) return undefined;
  return refuse('AUTH_FORBIDDEN', 'a candidate does not have the worker role');
}

/** MWP-WRK-004b: a set of candidates is bounded, earlier live ones included. */
export function checkCandidateCount(offers: readonly Offer[], maximum: number, now: string): Refusal | undefined {
  if (offers.filter((offer) => isLiveOffer(offer, now)).length <= maximum) return undefined;
  return refuse('INVALID_COMMAND', `more than ${maximum} candidates at a time`);
}

/** The basis speaks of this contract and says that the choice is allowed; its figures are the author's own. */
export function checkBasis(basis: SelectionBasis, required: readonly CapabilityRef[]): Refusal | undefined {
  const sameSize = basis.requiredCapabilities.length === required.length;
  const named = (capability: CapabilityRef) =>
    basis.requiredCapabilities.some(({ id, version }) => id === capability.id && version === capability.version);
  if (!sameSize || !required.every(named)) {
    return refuse('INVALID_COMMAND', 'selectionBasis does not name the required capabilities of the contract');
  }
  if (!satisfies(basis.verifiedMatches, required)) {
    return refuse('INVALID_COMMAND', 'selectionBasis does not verify every required capability');
  }
  if (basis.authorizationEligible) return undefined;
  return refuse('INVALID_COMMAND', 'selectionBasis says that the candidates are not eligible');
}
