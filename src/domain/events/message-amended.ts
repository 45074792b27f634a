// message.corrected, message.retracted and message.redacted: one more Message in the Conversation; what the one that it amends
// says stays as it was (MWP-FND-013c, MWP-MSN-023). A redacted one is known as such from then on.
import type { MessageAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { commitMessage } from './message-posted.ts';

interface MessageAmended {
  amendment: MessageAggregate;
}

const ERASABLE = ['amendment.content.*.text', 'amendment.content.*.data', 'amendment.reason'];

const amended = (kind: 'message.corrected' | 'message.retracted'): EventKind<MessageAmended> => ({
  kind,
  erasable: ERASABLE,
  evolve: (view, { payload: { amendment } }) => commitMessage(view, amendment),
});

export const messageCorrected = amended('message.corrected');
export const messageRetracted = amended('message.retracted');

export const messageRedacted: EventKind<MessageAmended> = {
  kind: 'message.redacted',
  erasable: ERASABLE,

  evolve(view, { payload: { amendment }, actor, occurredAt }) {
    commitMessage(view, amendment);
    const { messageId: amendmentId, targetMessageId = '' } = amendment;
    const target = view.toChange('message', targetMessageId);
    if (!target) return;
    const redaction = { amendmentId, redactedBy: actor, redactedAt: occurredAt };
    view.set('message', targetMessageId, target.groupId, { ...target, redaction });
  },
};
