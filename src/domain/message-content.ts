// What a sender may say in a Message, and what is committed of it.
import { z } from 'zod';
import { messagePart } from '../protocol/documents/message.ts';
import { text } from '../protocol/documents/shapes.ts';
import type { MessagePart } from './aggregates.ts';

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
