// message.post: any member says something in a Conversation of its Group; it licenses nothing (commands.md 1.14).
import { z } from 'zod';
import { actor, id, unique } from '../../protocol/documents/shapes.ts';
import { principalKey, samePrincipal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { ConversationAggregate, MessageAggregate } from '../aggregates.ts';
import type { Command, CommandKind, Request } from '../decider.ts';
import { checkMessageUnused, contentParts, messageContent, messageEvent } from '../messages.ts';
import { one, type RecentRead } from '../reads.ts';
import { checkMissionNotTerminal, groupOf, missionOf } from '../roles.ts';
import type { View } from '../view.ts';
import { optional, payload } from './shapes.ts';

/** Mentions, and references, of one Message: each may wake somebody. */
const MENTIONS_MAXIMUM = 200;
const RATE_WINDOW_SECONDS = 60;

const schema = payload({
  messageId: id,
  /** Or in the envelope. */
  conversationId: optional(id),
  content: messageContent,
  mentions: optional(unique(actor).refine((items) => items.length <= MENTIONS_MAXIMUM, 'names too many')),
  references: optional(unique(id).refine((items) => items.length <= MENTIONS_MAXIMUM, 'names too many')),
  /** MWP-MSN-017 */
  authority: optional(z.literal(false)),
  /** For attention filters: of interest to everybody. */
  announcement: optional(z.boolean()),
});

export type MessagePostPayload = z.infer<typeof schema>;

export const messagePost: CommandKind<MessagePostPayload> = {
  kind: 'message.post',
  payload: schema,
  actors: ['agent', 'human'],
  group: 'existing',
  revision: (request, view) => conversationOf(request, view)?.revision,

  reads: (request) => [
    recentRead(request.command),
    one('message', request.payload.messageId),
    one('conversation', conversationIdOf(request) ?? ''),
  ],

  limits({ command }, view, { now, policy }) {
    const { count, oldest } = view.recent(recentRead(command));
    if (count < policy.limits.messagesPerMinute) return undefined;
    const freeAt = millisFromTimestamp(oldest ?? now) + RATE_WINDOW_SECONDS * 1000;
    return refuse('RATE_LIMITED', 'too many Messages in this Group within a minute', {
      retryAfterMs: Math.max(1, freeAt - millisFromTimestamp(now)),
      details: { limit: 'message_rate' },
    });
  },

  decide(request, view, { now }) {
    const { command, payload } = request;
    const early = checkMissionNotTerminal(command, view) ?? checkGiven(request);
    if (early) return early;
    const conversation = conversationOf(request, view);
    // One answer for a Conversation that does not exist and for one that is closed to the actor.
    if (!conversation) return refuse('MEMBERSHIP_REQUIRED', 'no such Conversation among those open to the actor');
    const refusal = checkOpen(conversation) ?? checkMessageUnused(payload.messageId, view);
    if (refusal) return refusal;
    const posted = {
      message: message(request, conversation, now),
      ...(payload.announcement !== undefined && { announcement: payload.announcement }),
    };
    return { events: [messageEvent('message.posted', conversation, posted)] };
  },
};

function recentRead({ groupId, actor }: Command): RecentRead {
  return {
    read: 'recent',
    groupId: groupId ?? '',
    eventKind: 'message.posted',
    actor,
    seconds: RATE_WINDOW_SECONDS,
    limit: 'messagesPerMinute',
  };
}

function conversationIdOf({ command, payload }: Request<MessagePostPayload>): string | undefined {
  return payload.conversationId ?? command.conversationId;
}

/** The Conversation, if it is one of this Group that the actor may write to; nothing tells why it is not. */
function conversationOf(request: Request<MessagePostPayload>, view: View): ConversationAggregate | undefined {
  const { command } = request;
  const conversation = view.get('conversation', conversationIdOf(request) ?? '');
  if (!conversation || conversation.groupId !== groupOf(command)) return undefined;
  return mayWrite(command, conversation, view) ? conversation : undefined;
}

/** MWP-MSN-015b: restricted to its members, and always open to Coordinator and MissionOwner. */
function mayWrite({ actor }: Command, { access, groupId }: ConversationAggregate, view: View): boolean {
  if (access.mode === 'group') return true;
  const { missionOwner, coordinator } = missionOf(view, groupId).mission;
  if (samePrincipal(actor, missionOwner)) return true;
  if (samePrincipal(actor, { type: 'agent', id: coordinator.agentId })) return true;
  return (access.members ?? []).some((member) => principalKey(member) === principalKey(actor));
}

function checkGiven(request: Request<MessagePostPayload>): Refusal | undefined {
  if (conversationIdOf(request) !== undefined) return undefined;
  return refuse('INVALID_COMMAND', 'a Message needs a conversationId');
}

function checkOpen({ state }: ConversationAggregate): Refusal | undefined {
  if (state === 'active') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the Conversation is closed');
}

function message(
  { command, payload }: Request<MessagePostPayload>,
  { missionId, groupId, conversationId }: ConversationAggregate,
  now: string,
): MessageAggregate<string> {
  const { content, mentions, references } = payload;
  return {
    messageId: payload.messageId,
    missionId,
    groupId,
    conversationId,
    author: command.actor,
    kind: 'message',
    authority: false,
    content: contentParts(content),
    ...(mentions?.length && { mentions }),
    ...(references?.length && { references }),
    committedAt: now,
  };
}
