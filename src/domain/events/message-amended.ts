// message.corrected and message.retracted: one more Message in the Conversation; the one that it amends stays as it was
// (MWP-FND-013c, MWP-MSN-023).
import type { MessageAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { commitMessage } from './message-posted.ts';

interface MessageAmended {
  amendment: MessageAggregate;
}

const amended = (kind: 'message.corrected' | 'message.retracted'): EventKind<MessageAmended> => ({
  kind,
  erasable: ['amendment.content.*.text', 'amendment.content.*.data', 'amendment.reason'],
  evolve: (view, { payload: { amendment } }) => commitMessage(view, amendment),
});

export const messageCorrected = amended('message.corrected');
export const messageRetracted = amended('message.retracted');
