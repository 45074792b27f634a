// message.posted: one more Message that never changes (MWP-FND-013c); its Conversation is one revision on.
import type { MessageAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import type { View } from '../view.ts';

interface MessagePosted {
  message: MessageAggregate;
}

export const messagePosted: EventKind<MessagePosted> = {
  kind: 'message.posted',
  erasable: ['message.content.*.text', 'message.content.*.data'],

  evolve: (view, { payload: { message } }) => commitMessage(view, message),
};

export function commitMessage(view: View, message: MessageAggregate): void {
  view.set('message', message.messageId, message.groupId, message);
  advanceConversation(view, message.conversationId);
}

/** A limited fold skips one that it never saw. */
export function advanceConversation(view: View, conversationId: string): void {
  const conversation = view.toChange('conversation', conversationId);
  if (!conversation) return;
  const revision = conversation.revision + 1;
  view.set('conversation', conversationId, conversation.groupId, { ...conversation, revision });
}
