// Conversations, as their readers get them.
import type { ConversationAggregate } from '../../domain/aggregates.ts';
import { one } from '../../domain/reads.ts';
import type { Reader } from '../../store/port.ts';
import { withTexts } from './texts.ts';

/** Undefined also for a Conversation of another Group. */
export async function conversationById(
  reader: Reader,
  groupId: string,
  conversationId: string,
): Promise<ConversationAggregate | undefined> {
  const { aggregates } = await reader.load([one('conversation', conversationId)]);
  const conversation = aggregates[0]?.document as ConversationAggregate | undefined;
  return conversation?.groupId === groupId ? conversation : undefined;
}

/** `{ conversation }`. */
export function shownConversations(reader: Reader, groupId: string, conversations: ConversationAggregate[]) {
  return withTexts(
    reader,
    groupId,
    conversations.map((conversation) => ({ conversation })),
  );
}
