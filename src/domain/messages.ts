// What Messages share, the first ones and those that amend them: what may be said, and the Event that commits it.
import { z } from 'zod';
import { messagePart } from '../protocol/documents/message.ts';
import { text } from '../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { ConversationAggregate, MessagePart } from './aggregates.ts';
import type { EventDraft } from './decider.ts';
import type { View } from './view.ts';

/** Parts of one Message. */
const PARTS_MAXIMUM = 100;
/** JSON characters of one `data_ref`; what is larger goes as an Artifact, by reference (MWP-MSN-016b). */
const INLINE_DATA_MAXIMUM = 65_536;

const part = messagePart.refine(
  (value) => value.type !== 'data_ref' || JSON.stringify(value.data).length <= INLINE_DATA_MAXIMUM,
  'is too large to stand inline; publish an Artifact and refer to it',
);

/** A plain string is one text part: the reference's clients send that. */
export const messageContent = z.union([text(1, 100_000), z.array(part).min(1).max(PARTS_MAXIMUM)]);

export function contentParts(content: z.infer<typeof messageContent>): MessagePart<string>[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The first ones and the amendments have one space of ids: all of them are Messages (MWP-FND-013c). */
export function checkMessageUnused(messageId: string, view: View): Refusal | undefined {
  if (!view.get('message', messageId)) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the Message id is already used');
}

/** Its Conversation is one revision on. */
export function messageEvent(
  kind: string,
  { groupId, conversationId, primaryWorkItemId, revision }: ConversationAggregate,
  payload: Record<string, unknown>,
): EventDraft {
  return {
    kind,
    groupId,
    aggregateRevision: revision + 1,
    conversationId,
    ...(primaryWorkItemId !== undefined && { workItemId: primaryWorkItemId }),
    payload,
  };
}
