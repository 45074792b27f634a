// Who sees what of a Group: the rules, pure. docs/http-api.md tells them to clients. The Membership decides, and nothing
// that a member is shown says more than the Events that it may read (MWP-MSN-010d, -012; MWP-EVT-009c).
import type {
  ArtifactAggregate,
  BudgetAccountAggregate,
  ConversationAggregate,
  GroupAggregate,
  LeaseAggregate,
  MembershipAggregate,
  MembershipRole,
  MessageAggregate,
  WorkItemAggregate,
  WorkProposalAggregate,
} from '../domain/aggregates.ts';
import { hasEnded } from '../domain/decide.ts';
import { isEndedByArchival, rolesOf, seesEverything } from '../domain/memberships.ts';
import { samePrincipal, type Principal } from '../protocol/principals.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';

export interface Standing {
  /** `full`: from the first sequence. `limited`: from a later one. `provisional`: not yet accepted anything. */
  level: 'full' | 'limited' | 'provisional';
  principal: Principal;
  roles: MembershipRole[];
  /** First sequence that the member may see. */
  startSequence: number;
}

export interface Sight extends Standing {
  /** Time of the last Event before the start: what is not later than it is hidden from a limited member. */
  hiddenUntil?: string;
}

/**
 * GROUP_NOT_FOUND for who never was a member, in the words for a Group that is not there. An ended Membership knows of
 * the Group and reads nothing, unless archival ended it: that keeps its read access (design section 8).
 */
export function judgeMembership(
  group: GroupAggregate | undefined,
  membership: MembershipAggregate | undefined,
  now: string,
): Standing | Refusal {
  if (!group || !membership) return groupNotFound();
  if (hasEnded(membership, now) && !isEndedByArchival(group, membership)) {
    return refuse('MEMBERSHIP_REQUIRED', 'the Membership in this Group has ended');
  }
  // Archival gives nobody more than it had: who had not accepted anything yet is as it was.
  const neverAccepted =
    membership.state === 'ended' && membership.documents.every(({ activatedAt }) => activatedAt === undefined);
  const isProvisional = membership.state === 'provisional' || neverAccepted;
  const level = isProvisional ? 'provisional' : seesEverything(membership) ? 'full' : 'limited';
  const { member: principal, visibilityStartSequence: startSequence } = membership;
  return { level, principal, roles: rolesOf(membership), startSequence };
}

export function groupNotFound(): Refusal {
  return refuse('GROUP_NOT_FOUND', 'no such Group');
}

/** For what a provisional Membership does not show at all. */
export function checkActive(sight: Sight): Refusal | undefined {
  if (sight.level !== 'provisional') return undefined;
  return refuse('MEMBERSHIP_REQUIRED', 'a provisional Membership does not show this');
}

/** For what tells the whole history: the state document and the policy log. */
export function checkFull(sight: Sight): Refusal | undefined {
  if (sight.level === 'full') return undefined;
  return refuse('MEMBERSHIP_REQUIRED', 'this needs a Membership with full visibility');
}

export interface EventFacts {
  position: number;
  kind: string;
  /** The Event, JSON text. */
  body: string;
}

/** From the start on; to a provisional member only what speaks of it: its admission and its offers (commands.md (m)). */
export function seesEvent(sight: Sight, event: EventFacts): boolean {
  if (event.position < sight.startSequence) return false;
  return sight.level !== 'provisional' || isAbout(sight.principal, event);
}

function isAbout({ type, id }: Principal, { kind, body }: EventFacts): boolean {
  if (kind !== 'membership.changed' && kind !== 'work.offer.created') return false;
  const { payload } = JSON.parse(body) as { payload: { principal?: Principal; candidateAgentIds?: string[] } };
  if (kind === 'work.offer.created') return type === 'agent' && payload.candidateAgentIds?.includes(id) === true;
  return payload.principal?.type === type && payload.principal.id === id;
}

/** Strictly later than the last hidden Event: of two things in one millisecond, neither is shown. */
function isAfterStart(sight: Sight, time: string): boolean {
  if (sight.level === 'full') return true;
  return sight.hiddenUntil !== undefined && compareTimestamps(time, sight.hiddenUntil) > 0;
}

/**
 * An item that merely changed since a member's start stays hidden from it: the document would show the contract, which no
 * Event that it may read does. One created since then stands whole in such an Event; offers carry it whole, too.
 */
export function seesWorkItem(sight: Sight, { workItem }: WorkItemAggregate): boolean {
  if (sight.level === 'full') return true;
  const { id, type } = sight.principal;
  if (type === 'agent' && workItem.offers?.some(({ agentId }) => agentId === id)) return true;
  if (sight.level === 'provisional') return false;
  if (type === 'agent' && workItem.owner?.agentId === id) return true;
  return samePrincipal(workItem.createdBy, sight.principal) || isAfterStart(sight, workItem.createdAt);
}

/** What hangs on a WorkItem is seen with it; what hangs on none (a Mission's own) is for full members. */
export function seesWithWorkItem(sight: Sight, workItem: WorkItemAggregate | undefined): boolean {
  if (sight.level === 'full') return true;
  return sight.level === 'limited' && workItem !== undefined && seesWorkItem(sight, workItem);
}

export function seesMembership(sight: Sight, { member }: MembershipAggregate): boolean {
  return sight.level !== 'provisional' || samePrincipal(member, sight.principal);
}

/** MWP-MSN-015b: restricted ones are for their members, the Coordinator and the MissionOwner, whatever the visibility. */
export function seesConversation(
  sight: Sight,
  conversation: ConversationAggregate,
  workItem: WorkItemAggregate | undefined,
): boolean {
  const { access, type, createdAt } = conversation;
  if (sight.level === 'provisional') return false;
  if (access.mode === 'restricted' && !mayEnterRestricted(sight, access.members ?? [])) return false;
  if (sight.level === 'full' || type === 'group') return true;
  return isAfterStart(sight, createdAt) || (workItem !== undefined && seesWorkItem(sight, workItem));
}

function mayEnterRestricted(sight: Sight, members: readonly Principal[]): boolean {
  if (sight.roles.includes('coordinator') || sight.roles.includes('mission_owner')) return true;
  return members.some((member) => samePrincipal(member, sight.principal));
}

/** Of a Conversation that is seen. */
export function seesMessage(sight: Sight, message: MessageAggregate): boolean {
  return sight.level !== 'provisional' && isAfterStart(sight, message.committedAt);
}

export function seesLease(sight: Sight, lease: LeaseAggregate, workItem: WorkItemAggregate | undefined): boolean {
  if (sight.level === 'full' || lease.leaseType === 'coordinator') return sight.level !== 'provisional';
  const isOwn = sight.principal.type === 'agent' && lease.holderAgentId === sight.principal.id;
  return seesWithWorkItem(sight, workItem) || (sight.level === 'limited' && isOwn);
}

export function seesAccount(
  sight: Sight,
  account: BudgetAccountAggregate,
  workItem: WorkItemAggregate | undefined,
): boolean {
  return sight.level === 'full' || (account.owner.type === 'work_item' && seesWithWorkItem(sight, workItem));
}

/** `ownInputs`: content hashes that contracts of the member's own WorkItems name as inputs (MWP-MSN-012). */
export function seesArtifact(
  sight: Sight,
  artifact: ArtifactAggregate,
  workItem: WorkItemAggregate | undefined,
  ownInputs: ReadonlySet<string>,
): boolean {
  if (seesWithWorkItem(sight, workItem)) return true;
  return sight.level === 'limited' && ownInputs.has(artifact.contentHash);
}

export function seesProposal(sight: Sight, proposal: WorkProposalAggregate): boolean {
  if (sight.level === 'provisional') return false;
  return isAfterStart(sight, proposal.createdAt) || samePrincipal(proposal.proposedBy, sight.principal);
}
