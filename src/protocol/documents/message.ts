// The committed Message. `authority` is always false: a Message licenses nothing (MWP-FND-002b).

import { z } from 'zod';
import { actor, anyJson, atLeastOne, extensions, id, sha256, text, timestamp, unique, uri } from './shapes.ts';

export const messagePart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: text(1, 100_000) }),
  z.strictObject({ type: z.literal('artifact_ref'), artifactHash: sha256 }),
  z.strictObject({ type: z.literal('data_ref'), schema: uri, data: anyJson }),
]);
export type MessagePart = z.infer<typeof messagePart>;

const members = z.strictObject({
  messageId: id,
  missionId: id,
  groupId: id,
  conversationId: id,
  author: actor,
  kind: z.enum(['message', 'correction', 'retraction', 'redaction']),
  authority: z.literal(false),
  targetMessageId: id.optional(),
  content: atLeastOne(messagePart),
  mentions: unique(actor).optional(),
  references: unique(id).optional(),
  reason: text(1, 4000).optional(),
  committedAt: timestamp,
  extensions: extensions.optional(),
});
export type Message = z.infer<typeof members>;

export const messageSchema = members.superRefine((message, context) => {
  if (message.kind === 'message') return;
  for (const member of ['targetMessageId', 'reason'] as const) {
    if (message[member] === undefined) context.addIssue({ code: 'custom', path: [member], message: 'is required' });
  }
});
