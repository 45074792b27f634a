// One Command through the common checks of commands.md 0.2 (C9 to C19) and then its own rule. Verification, receipt
// lookup, admission and freshness (C1 to C8) came before; nothing here waits, writes or looks at a clock.
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { describeFault } from '../protocol/documents/catalogue.ts';
import { RENDITION_EXTENSION } from '../protocol/documents/rendition.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import { membershipKey, type MembershipAggregate } from './aggregates.ts';
import type { Command, CommandKind, Decision, DecisionContext, Request } from './decider.ts';
import { isEndedByArchival } from './memberships.ts';
import { one, type Read } from './reads.ts';
import { hasRight, maySend } from './rights.ts';
import { groupOf, missionRead } from './roles.ts';
import type { View } from './view.ts';

/** A Command whose payload was read: typed, or the refusal that is due when its turn comes (C15). */
export interface Prepared<P> {
  kind: CommandKind<P>;
  command: Command;
  payload: { ok: true; value: P } | { ok: false; refusal: Refusal };
  /** The first embedded Signed Document that does not verify. Told after the shape of the payload. */
  documentRefusal?: Refusal;
}

export function preparePayload(kind: CommandKind<unknown>, command: Command): Prepared<unknown> {
  if (lacksGroup(command, kind)) {
    return { kind, command, payload: { ok: false, refusal: refuse('INVALID_COMMAND', 'groupId is required') } };
  }
  const parsed = kind.payload.safeParse(command.payload);
  if (parsed.success) return { kind, command, payload: { ok: true, value: parsed.data } };
  const { fault, reason } = describeFault(parsed.error);
  const refusal = refuse('INVALID_COMMAND', `payload: ${fault}`, { reason: `payload: ${reason}` });
  return { kind, command, payload: { ok: false, refusal } };
}

/** The schema leaves it to us whether a service names a Group in an extension kind (MWP-EVT-001b). */
function lacksGroup(command: Command, kind: CommandKind<unknown>): boolean {
  return kind.group !== 'none' && command.groupId === undefined;
}

/** What every Command of this kind reads before its own reads. */
export function commonReads(command: Command, kind: CommandKind<unknown>): Read[] {
  const reads: Read[] = [];
  if (command.actor.type === 'agent') {
    reads.push(one('session', command.actor.id), one('agent_card', command.actor.id));
  }
  if (lacksGroup(command, kind)) return reads;
  if (kind.group === 'existing') {
    const groupId = groupOf(command);
    reads.push(one('group', groupId), missionRead(groupId));
    if (command.actor.type !== 'service') reads.push(one('membership', membershipKey(groupId, command.actor)));
  }
  if (kind.group === 'new') reads.push(one('group', groupOf(command)));
  return reads;
}

export function decideCommand<P>(prepared: Prepared<P>, view: View, context: DecisionContext): Decision {
  const { kind, command, payload } = prepared;
  const refusal = commonRefusal(prepared, view, context);
  if (refusal) return refusal;
  if (!payload.ok) return payload.refusal;
  return kind.decide({ command, payload: payload.value }, view, context);
}

/** Whatever the kind itself would say. Asked before, too, where what it decides on costs more than these checks. */
export function commonRefusal<P>(prepared: Prepared<P>, view: View, context: DecisionContext): Refusal | undefined {
  const { kind, command, payload } = prepared;
  const early =
    checkExtensions(command) ??
    checkActorType(command, kind) ??
    checkSession(command, view) ??
    checkServiceRight(command, context) ??
    checkMembership(command, kind, view, context);
  if (early) return early;
  if (!payload.ok) return payload.refusal;
  if (prepared.documentRefusal) return prepared.documentRefusal;
  const request: Request<P> = { command, payload: payload.value };
  return (
    checkEnvelopeAgrees(request) ??
    checkNotArchived(command, kind, view) ??
    checkLimits(request, kind, view, context) ??
    checkRevision(request, kind, view)
  );
}

/** C9. No critical profile is built in yet. Extensions of a Command go into its Events, and one of them only we may write. */
function checkExtensions(command: Command): Refusal | undefined {
  if (Object.hasOwn(command.extensions ?? {}, RENDITION_EXTENSION)) {
    return refuse('INVALID_COMMAND', 'no Command may bring the extension that marks a rendition');
  }
  const critical = Object.entries(command.extensions ?? {}).find(([, extension]) => extension.critical);
  if (!critical) return undefined;
  return refuse('UNKNOWN_CRITICAL_EXTENSION', 'a critical extension is not supported here');
}

function checkActorType(command: Command, kind: CommandKind<unknown>): Refusal | undefined {
  if (kind.actors.includes(command.actor.type)) return undefined;
  return refuse('AUTH_FORBIDDEN', `${command.kind} is not for actors of type ${command.actor.type}`);
}

/** C11 (MWP-FND-016). A session that was never opened has epoch 0, which no Command can carry; a revoked Card ends it. */
function checkSession(command: Command, view: View): Refusal | undefined {
  if (command.actor.type !== 'agent') return undefined;
  const current = view.get('session', command.actor.id)?.sessionEpoch ?? 0;
  const ended = view.get('agent_card', command.actor.id)?.endedSessionEpoch ?? 0;
  if (command.sessionEpoch === current && current > ended) return undefined;
  return refuse('AUTH_STALE_SESSION', 'the Session Epoch is not the current one');
}

/** C14, before anything that would tell a service whether a Group exists. */
function checkServiceRight(command: Command, context: DecisionContext): Refusal | undefined {
  if (command.actor.type !== 'service') return undefined;
  const { actor, kind, issuedAt } = command;
  if (hasRight(context, issuedAt, (policy) => maySend(policy, actor.id, kind))) return undefined;
  return refuse('AUTH_FORBIDDEN', 'the policy does not allow this service to send this kind');
}

/** C12, C13. Never a member: the same answer as for a Group that does not exist. */
function checkMembership(
  command: Command,
  kind: CommandKind<unknown>,
  view: View,
  context: DecisionContext,
): Refusal | undefined {
  if (kind.group !== 'existing' || lacksGroup(command, kind)) return undefined;
  const groupId = groupOf(command);
  const unknown = refuse('GROUP_NOT_FOUND', 'no such Group');
  const group = view.get('group', groupId);
  if (!group) return unknown;
  if (command.actor.type === 'service') return undefined;
  const membership = view.get('membership', membershipKey(groupId, command.actor));
  if (!membership) return unknown;
  // Archival ended it; that the Group is archived says more, and is said in its turn (C17).
  if (isEndedByArchival(group, membership)) return undefined;
  if (hasEnded(membership, context.now)) return refuse('MEMBERSHIP_STALE', 'the Membership has ended');
  if (command.membershipEpoch !== membership.membershipEpoch) {
    return refuse('MEMBERSHIP_STALE', 'the Membership Epoch is not the current one');
  }
  if (membership.state === 'provisional' && !kind.provisionalAllowed) {
    return refuse('MEMBERSHIP_REQUIRED', 'a provisional Membership does not allow this');
  }
  return undefined;
}

/** Ended, or provisional past its end. */
export function hasEnded(membership: MembershipAggregate, now: string): boolean {
  if (membership.state === 'ended') return true;
  const end = membership.provisionalExpiresAt;
  return membership.state === 'provisional' && end !== undefined && compareTimestamps(now, end) >= 0;
}

/** C16: compares only members that the payload really has. */
function checkEnvelopeAgrees<P>({ command, payload }: Request<P>): Refusal | undefined {
  for (const member of ['groupId', 'conversationId', 'workItemId'] as const) {
    const inPayload = (payload as Record<string, unknown>)[member];
    const inEnvelope = command[member];
    if (typeof inPayload === 'string' && inEnvelope !== undefined && inPayload !== inEnvelope) {
      return refuse('INVALID_COMMAND', `${member} differs between envelope and payload`);
    }
  }
  return undefined;
}

/** C17 */
function checkNotArchived(command: Command, kind: CommandKind<unknown>, view: View): Refusal | undefined {
  if (kind.group !== 'existing' || kind.archivedAllowed === true) return undefined;
  if (view.get('group', groupOf(command))?.state !== 'archived') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the Group is archived');
}

/** C18. Override grants are not issued yet, so a cited one is unknown. */
function checkLimits<P>(
  request: Request<P>,
  kind: CommandKind<P>,
  view: View,
  context: DecisionContext,
): Refusal | undefined {
  const exceeded = kind.limits?.(request, view, context);
  if (exceeded) return exceeded;
  if (request.command.cooperationOverrideGrantId === undefined) return undefined;
  return refuse('INVALID_COMMAND', 'no limit is exceeded, so no override grant may be cited');
}

/** C19 (MWP-EVT-007a). An aggregate that is absent is left to the kind's own checks. */
function checkRevision<P>(request: Request<P>, kind: CommandKind<P>, view: View): Refusal | undefined {
  const expectedRevision = request.command.expectedRevision;
  if (expectedRevision === undefined) return undefined;
  if (!kind.revision) {
    return refuse('INVALID_COMMAND', `${kind.kind} has no revision that expectedRevision could mean`);
  }
  const currentRevision = kind.revision(request, view);
  if (currentRevision === undefined || currentRevision === expectedRevision) return undefined;
  const detail = { expectedRevision, currentRevision };
  return refuse('REVISION_CONFLICT', 'the revision is not the expected one', detail);
}
