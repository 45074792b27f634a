// What the steps of a login answer.
import { z } from 'zod';
import { actor, base64url, positiveInteger, timestamp } from '../../protocol/documents/shapes.ts';
import { component } from '../openapi/components.ts';

export const challengeAnswer = component(
  'ChallengeAnswer',
  z.strictObject({
    challenge: base64url.meta({ description: 'Sign exactly the bytes that this decodes to.' }),
    challengeId: base64url,
    serverNonce: base64url,
    expiresAt: timestamp,
  }),
);

export const tokenAnswer = component(
  'TokenAnswer',
  z.strictObject({
    token: z.string().min(1),
    tokenType: z.literal('Bearer'),
    expiresAt: timestamp,
    principal: actor,
    sessionEpoch: positiveInteger
      .optional()
      .meta({ description: 'Of the session that was opened along with it; never there after a refresh.' }),
  }),
);
