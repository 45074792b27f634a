// POST and GET /organizations.
import { Hono } from 'hono';
import { z } from 'zod';
import type { KeyVault } from '../../platform/key-vault.ts';
import type { Logger } from '../../platform/logger.ts';
import { id } from '../../protocol/documents/shapes.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { jsonBody } from '../bodies.ts';
import { pageText } from '../json-text.ts';
import { pageQuery } from '../parameters.ts';
import { newOrganization, type OrganizationWish } from './new-organization.ts';
import { registryRevisionOf } from './outcomes.ts';

/** Ids of its services and keys are made of the Organization's, and none may be longer than 512 characters. */
const ORGANIZATION_ID_MAXIMUM = 400;

/** One line of text for people; control characters have no business in it, and NUL none in a database. */
export const displayName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}+$/u, 'must not hold control characters');

const organizationBody = z.strictObject({
  slug: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be 1 to 63 of a-z, 0-9 and inner hyphens'),
  displayName,
  organizationId: id
    .refine((text) => text.length <= ORGANIZATION_ID_MAXIMUM, `must have at most ${ORGANIZATION_ID_MAXIMUM} characters`)
    .refine((text) => !/[?#]/.test(text), 'must have neither query nor fragment')
    .optional(),
});

export interface OrganizationParts {
  store: AuthorityStore;
  vault: KeyVault;
  logger: Logger;
}

export function organizationRoutes({ store, vault, logger }: OrganizationParts): Hono {
  const { organizations } = store;
  const routes = new Hono();

  routes.post('/organizations', async (c) => {
    const { slug, displayName: name, organizationId } = await jsonBody(c, organizationBody);
    const wish: OrganizationWish = { slug, displayName: name, ...(organizationId !== undefined && { organizationId }) };
    const made = newOrganization(wish, vault, await organizations.now());
    registryRevisionOf(await organizations.create(made));
    logger.info({ tenant: made.organization.organizationId }, 'an Organization was created');
    const keys = made.bindings.map(({ keyId, principal, publicKey, validFrom }) => ({
      keyId,
      principal,
      publicKey,
      validFrom,
    }));
    return c.json({ ...made.organization, keys }, 201);
  });

  routes.get('/organizations', async (c) => {
    const { after, limit } = pageQuery(c);
    const rows = await organizations.all(after ?? '', limit + 1);
    const items = rows.slice(0, limit);
    const next = rows.length > limit ? items.at(-1)?.slug : undefined;
    const texts = items.map((row) => JSON.stringify(row));
    return pageText(c, next === undefined ? { items: texts } : { items: texts, next });
  });
  return routes;
}
