// What follows a Message that its author no longer stands by as it is: a Message of its own that names the one it amends,
// which stays as it was accepted (MWP-MSN-023; commands.md 1.15, 1.16).
import { samePrincipal } from '../protocol/principals.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { ConversationAggregate, MessageAggregate, MessagePart } from './aggregates.ts';
import type { Command, Decision, Request } from './decider.ts';
import { checkMessageUnused, messageEvent } from './messages.ts';
import { one, type Read } from './reads.ts';
import { checkMissionNotTerminal, groupOf } from './roles.ts';
import type { View } from './view.ts';

export interface AmendmentPayload {
  amendmentId: string;
  messageId: string;
  reason: string;
}

/** What both kinds are alike in. */
export const AMENDING = {
  actors: ['agent', 'human'],
  group: 'existing',
  revision: amendedRevision,
  reads: amendmentReads,
  moreReads: amendedConversationRead,
} as const;

export interface Amendment {
  eventKind: 'message.corrected' | 'message.retracted';
  kind: MessageAggregate['kind'];
  content: MessagePart<string>[];
}

function amendmentReads({ payload }: Request<AmendmentPayload>): Read[] {
  return [one('message', payload.messageId), one('message', payload.amendmentId)];
}

function amendedConversationRead({ command, payload }: Request<AmendmentPayload>, view: View): Read[] {
  const target = targetOf(command, payload, view);
  return target ? [one('conversation', target.conversationId)] : [];
}

function amendedRevision({ command, payload }: Request<AmendmentPayload>, view: View): number | undefined {
  const target = targetOf(command, payload, view);
  return target && conversationOf(target, view).revision;
}

export function amend(
  { command, payload }: Request<AmendmentPayload>,
  amendment: Amendment,
  view: View,
  now: string,
): Decision {
  const refusal = checkMissionNotTerminal(command, view);
  if (refusal) return refusal;
  const target = targetOf(command, payload, view);
  if (!target) return refuse('INVALID_COMMAND', 'no such Message in this Group');
  const early = checkAuthor(command, target) ?? checkIsMessage(target) ?? checkMessageUnused(payload.amendmentId, view);
  if (early) return early;
  const { missionId, groupId, conversationId } = target;
  const committed: MessageAggregate<string> = {
    messageId: payload.amendmentId,
    missionId,
    groupId,
    conversationId,
    author: command.actor,
    kind: amendment.kind,
    authority: false,
    targetMessageId: target.messageId,
    content: amendment.content,
    reason: payload.reason,
    committedAt: now,
  };
  return { events: [messageEvent(amendment.eventKind, conversationOf(target, view), { amendment: committed })] };
}

function targetOf(command: Command, { messageId }: AmendmentPayload, view: View): MessageAggregate | undefined {
  const target = view.get('message', messageId);
  return target?.groupId === groupOf(command) ? target : undefined;
}

function conversationOf({ conversationId }: MessageAggregate, view: View): ConversationAggregate {
  return view.mustGet('conversation', conversationId);
}

function checkAuthor({ actor }: Command, { author }: MessageAggregate): Refusal | undefined {
  if (samePrincipal(actor, author)) return undefined;
  return refuse('AUTH_FORBIDDEN', 'only its author amends a Message');
}

/** Else what is in force would be told by a chain of any length. */
function checkIsMessage({ kind }: MessageAggregate): Refusal | undefined {
  if (kind === 'message') return undefined;
  return refuse('INVALID_COMMAND', 'an amendment is not amended; amend the original Message again');
}
