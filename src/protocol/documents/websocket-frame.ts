// The ten WebSocket frames, told apart by frameType and, within HELLO, by phase.

import { z } from 'zod';
import { commandSchema } from './command.ts';
import { errorSchema } from './error.ts';
import { eventSchema } from './event.ts';
import { presenceRecordSchema } from './presence-record.ts';
import { atLeastOne, base64url, id, kind, positiveInteger, protocolVersion, safeInteger } from './shapes.ts';
import { text, timestamp, unique, uniqueAtLeastOne } from './shapes.ts';

const frame = { protocolVersion, frameId: id };
const hello = { ...frame, frameType: z.literal('HELLO') };

export const helloClientInitSchema = z.strictObject({
  ...hello,
  phase: z.literal('client_init'),
  agentId: id,
  keyId: id,
  clientNonce: base64url,
  supportedVersions: uniqueAtLeastOne(protocolVersion),
});
export const helloServerChallengeSchema = z.strictObject({
  ...hello,
  phase: z.literal('server_challenge'),
  selectedVersion: protocolVersion,
  clientNonce: base64url,
  serverNonce: base64url,
  challenge: base64url,
});
export const helloClientResponseSchema = z.strictObject({
  ...hello,
  phase: z.literal('client_response'),
  agentId: id,
  keyId: id,
  clientNonce: base64url,
  serverNonce: base64url,
  challengeSignature: base64url,
});
export const helloServerAcceptSchema = z.strictObject({
  ...hello,
  phase: z.literal('server_accept'),
  selectedVersion: protocolVersion,
  sessionToken: text(16, 8192),
  sessionEpoch: positiveInteger,
  expiresAt: timestamp,
});

export const attentionFilter = z.strictObject({
  eventKinds: unique(kind).optional(),
  conversationIds: unique(id).optional(),
  workItemIds: unique(id).optional(),
  mentionsOnly: z.boolean().optional(),
  announcements: z.boolean().optional(),
});
export type AttentionFilter = z.infer<typeof attentionFilter>;

export const subscribeFrameSchema = z.strictObject({
  ...frame,
  frameType: z.literal('SUBSCRIBE'),
  subscriptionId: id,
  groups: atLeastOne(
    z.strictObject({ groupId: id, afterSequence: safeInteger, attention: attentionFilter.optional() }),
  ),
});
export const commandFrameSchema = z.strictObject({ ...frame, frameType: z.literal('COMMAND'), command: commandSchema });
export const eventFrameSchema = z.strictObject({ ...frame, frameType: z.literal('EVENT'), event: eventSchema });
export const ackFrameSchema = z.strictObject({
  ...frame,
  frameType: z.literal('ACK'),
  acknowledgements: atLeastOne(z.strictObject({ groupId: id, sequence: safeInteger })),
  sentAt: timestamp,
});
export const pingFrameSchema = z.strictObject({
  ...frame,
  frameType: z.literal('PING'),
  nonce: base64url,
  replyToNonce: base64url.optional(),
  sentAt: timestamp,
  presence: presenceRecordSchema.optional(),
});
export const errorFrameSchema = z.strictObject({ ...frame, frameType: z.literal('ERROR'), error: errorSchema });

export const websocketFrameSchema = z.discriminatedUnion('frameType', [
  z.discriminatedUnion('phase', [
    helloClientInitSchema,
    helloServerChallengeSchema,
    helloClientResponseSchema,
    helloServerAcceptSchema,
  ]),
  subscribeFrameSchema,
  commandFrameSchema,
  eventFrameSchema,
  ackFrameSchema,
  pingFrameSchema,
  errorFrameSchema,
]);
export type WebsocketFrame = z.infer<typeof websocketFrameSchema>;
