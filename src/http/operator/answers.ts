// What the operator's API answers.
import { z } from 'zod';
import { agentCardSchema } from '../../protocol/documents/agent-card.ts';
import { actor, base64url, id, safeInteger } from '../../protocol/documents/shapes.ts';
import { timestamp } from '../../protocol/documents/shapes.ts';
import { pageOf, receiptShape } from '../answer-shapes.ts';
import { component } from '../openapi/components.ts';

const key = component(
  'Key',
  z.strictObject({ keyId: id, principal: actor, publicKey: base64url, validFrom: timestamp }),
);
const registryRevision = safeInteger;

const organization = component(
  'Organization',
  z
    .strictObject({
      organizationId: id,
      slug: z.string(),
      displayName: z.string(),
      createdAt: timestamp,
      authority: actor,
      identity: actor,
      registrar: actor,
    })
    .meta({ description: 'A tenant, with the three services of its own that sign for it.' }),
);
export const organizationAnswer = component('OrganizationAnswer', organization.extend({ keys: z.array(key) }));
export const organizationPage = component('OrganizationPage', pageOf(organization));

const principal = component('Principal', z.strictObject({ principal: actor, displayName: z.string() }));
export const principalAnswer = component('PrincipalAnswer', principal.extend({ keys: z.array(key), registryRevision }));
export const principalPage = component('PrincipalPage', pageOf(principal));

export const keyAnswer = component('KeyAnswer', key.extend({ registryRevision }));
export const keyEndAnswer = component(
  'KeyEndAnswer',
  z.strictObject({
    keyId: id,
    validUntil: timestamp.optional(),
    revokedAt: timestamp.optional(),
    registryRevision,
  }),
);

export const rotationAnswer = component(
  'RotationAnswer',
  key.extend({
    ended: z.array(id).meta({ description: 'Keys that count no more from `validFrom` on.' }),
    registryRevision,
  }),
);

export const cardAnswer = component(
  'CardAnswer',
  z.strictObject({ agentCard: agentCardSchema, receipt: receiptShape }),
);
