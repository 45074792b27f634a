// The bodies that the operator's API takes.
import { z } from 'zod';
import { agentCardSchema } from '../../protocol/documents/agent-card.ts';
import { actor, base64url, id, timestamp } from '../../protocol/documents/shapes.ts';
import { isCapitalZ } from '../../protocol/timestamps.ts';
import { component } from '../openapi/components.ts';

/** Ids of its services and keys are made of the Organization's, and none may be longer than 512 characters. */
const ORGANIZATION_ID_MAXIMUM = 400;
/** Keys of one request; nobody holds so many at once. */
const KEYS_MAXIMUM = 50;

/** One line of text for people; control characters have no business in it, and NUL none in a database. */
const displayName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}+$/u, 'must not hold control characters')
  .meta({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$' }); // the same, for languages without \P

export const organizationBody = component(
  'OrganizationRequest',
  z.strictObject({
    slug: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be 1 to 63 of a-z, 0-9 and inner hyphens'),
    displayName,
    organizationId: id
      .refine(
        (text) => text.length <= ORGANIZATION_ID_MAXIMUM,
        `must have at most ${ORGANIZATION_ID_MAXIMUM} characters`,
      )
      .refine((text) => !/[?#]/.test(text), 'must have neither query nor fragment')
      .meta({ maxLength: ORGANIZATION_ID_MAXIMUM, pattern: '^[^?#]+$' })
      .optional(),
  }),
);

/** Whether it is a strict point is judged when it is registered. */
const publicKey = base64url.meta({
  minLength: 43,
  maxLength: 43,
  description: 'Ed25519, 32 bytes in base64url without padding.',
});
const key = { keyId: id, publicKey, validFrom: timestamp.optional() };
export const principalBody = component(
  'PrincipalRequest',
  z.strictObject({
    principal: actor,
    displayName,
    keys: z.array(z.strictObject(key)).max(KEYS_MAXIMUM),
  }),
);
export const keyBody = component('KeyRequest', z.strictObject({ principal: actor, ...key }));
export const endBody = component(
  'KeyEndRequest',
  z
    .strictObject({ validUntil: timestamp.optional(), revokedAt: timestamp.optional() })
    .refine(({ validUntil, revokedAt }) => validUntil !== undefined || revokedAt !== undefined, {
      message: 'must have validUntil or revokedAt',
    })
    .meta({ minProperties: 1 }),
);

const cardDraft = agentCardSchema
  .omit({ signature: true })
  .partial({ organizationId: true, issuedAt: true })
  .extend({
    signature: z.undefined('is made by the service and must not be given').optional().meta({ not: {} }),
    issuedAt: timestamp.refine(isCapitalZ, 'must end in capital Z').optional(),
  })
  .meta({ description: 'An `AgentCard` without `signature`; `organizationId` and `issuedAt` may be left out.' });
export const agentBody = component('AgentRequest', z.strictObject({ card: cardDraft }));
export type CardDraft = z.infer<typeof cardDraft>;
