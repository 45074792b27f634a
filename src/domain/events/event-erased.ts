// ext.mwp.retention.event_erased: the texts of a Message are gone, and nothing more is said of it. State holds commitments only,
// so nothing of it changes but the note on the Message; its Conversation is one revision on.
import { EVENT_ERASED, type ErasureReason } from '../../protocol/retention.ts';
import type { EventKind } from '../decider.ts';
import { advanceConversation } from './message-posted.ts';

interface EventErased {
  messageId: string;
  reasonCode: ErasureReason;
}

export const eventErased: EventKind<EventErased> = {
  kind: EVENT_ERASED,
  erasable: [],

  evolve(view, { payload: { messageId, reasonCode }, actor, occurredAt, conversationId }) {
    if (conversationId !== undefined) advanceConversation(view, conversationId);
    const target = view.toChange('message', messageId);
    if (!target) return;
    const erasure = { reasonCode, erasedBy: actor, erasedAt: occurredAt };
    view.set('message', messageId, target.groupId, { ...target, erasure });
  },
};
