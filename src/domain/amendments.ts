// What follows a Message that its author no longer stands by, or that is withheld from its readers: a Message of its own that names the one it amends,
// which stays as it was accepted (MWP-MSN-023; commands.md 1.15 to 1.17).
import { samePrincipal } from '../protocol/principals.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { ConversationAggregate, MessageAggregate, MessagePart } from './aggregates.ts';
import type { Command, Decision, EventDraft, Request } from './decider.ts';
import { checkMessageUnused, messageEvent } from './messages.ts';
import { one, type Read } from './reads.ts';
import { checkMissionNotTerminal, groupOf } from './roles.ts';
import type { View } from './view.ts';

export interface AmendmentPayload {
  amendmentId: string;
  messageId: string;
  reason: string;
}

/** What all kinds are alike in. */
export const AMENDING = {
  actors: ['agent', 'human'],
  group: 'existing',
  revision: amendedRevision,
  reads: amendmentReads,
  moreReads: amendedConversationRead,
} as const;

/** Whatever is sent about one Message. */
type OfMessage = Request<Pick<AmendmentPayload, 'messageId'>>;

export interface Amendment {
  eventKind: 'message.corrected' | 'message.retracted' | 'message.redacted';
  kind: MessageAggregate['kind'];
  content: MessagePart<string>[];
}

export function amendmentReads({ payload }: Request<AmendmentPayload>): Read[] {
  return [one('message', payload.messageId), one('message', payload.amendmentId)];
}

export function amendedConversationRead({ command, payload }: OfMessage, view: View): Read[] {
  const target = targetOf(command, payload, view);
  return target ? [one('conversation', target.conversationId)] : [];
}

export function amendedRevision({ command, payload }: OfMessage, view: View): number | undefined {
  const target = targetOf(command, payload, view);
  return target && conversationOf(target, view).revision;
}

/** By its author. */
export function amend(request: Request<AmendmentPayload>, amendment: Amendment, view: View, now: string): Decision {
  const { command, payload } = request;
  const refusal = checkMissionNotTerminal(command, view);
  if (refusal) return refusal;
  const target = targetOf(command, payload, view);
  if (!target) return noSuchMessage();
  const early = checkAuthor(command, target) ?? checkAmendable(target, payload, view);
  return early ?? { events: [amendmentEvent(request, amendment, target, view, now)] };
}

export function noSuchMessage(): Refusal {
  return refuse('INVALID_COMMAND', 'no such Message in this Group');
}

export function checkAmendable(
  target: MessageAggregate,
  { amendmentId }: AmendmentPayload,
  view: View,
): Refusal | undefined {
  return (
    checkIsMessage(target) ??
    checkMessageUnused(amendmentId, view) ??
    checkNotErased(target) ??
    checkNotRedacted(target)
  );
}

export function amendmentEvent(
  { command, payload }: Request<AmendmentPayload>,
  { eventKind, kind, content }: Amendment,
  target: MessageAggregate,
  view: View,
  now: string,
): EventDraft {
  const { missionId, groupId, conversationId } = target;
  const committed: MessageAggregate<string> = {
    messageId: payload.amendmentId,
    missionId,
    groupId,
    conversationId,
    author: command.actor,
    kind,
    authority: false,
    targetMessageId: target.messageId,
    content,
    reason: payload.reason,
    committedAt: now,
  };
  return messageEvent(eventKind, conversationOf(target, view), { amendment: committed });
}

export function targetOf(
  command: Command,
  { messageId }: OfMessage['payload'],
  view: View,
): MessageAggregate | undefined {
  const target = view.get('message', messageId);
  return target?.groupId === groupOf(command) ? target : undefined;
}

export function conversationOf({ conversationId }: MessageAggregate, view: View): ConversationAggregate {
  return view.mustGet('conversation', conversationId);
}

function checkAuthor({ actor }: Command, { author }: MessageAggregate): Refusal | undefined {
  if (samePrincipal(actor, author)) return undefined;
  return refuse('AUTH_FORBIDDEN', 'only its author amends a Message');
}

/** Else what is in force would be told by a chain of any length. */
export function checkIsMessage({ kind }: MessageAggregate): Refusal | undefined {
  if (kind === 'message') return undefined;
  return refuse('INVALID_COMMAND', 'an amendment is not amended; amend the original Message again');
}

/** What is withheld is not told anew beside it. */
function checkNotRedacted({ redaction }: MessageAggregate): Refusal | undefined {
  if (!redaction) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the Message is redacted');
}

export function checkNotErased({ erasure }: MessageAggregate): Refusal | undefined {
  if (!erasure) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the Message is erased');
}
