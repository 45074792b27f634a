// POST and GET /organizations.
import { Hono } from 'hono';
import type { KeyVault } from '../../platform/key-vault.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { jsonBody } from '../bodies.ts';
import { pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { pageQuery } from '../parameters.ts';
import { organizationBody } from './bodies.ts';
import { newOrganization, type OrganizationWish } from './new-organization.ts';
import { OPERATIONS } from './operations.ts';
import { registryRevisionOf } from './outcomes.ts';

export interface OrganizationParts {
  store: AuthorityStore;
  vault: KeyVault;
  logger: Logger;
}

export function organizationRoutes({ store, vault, logger }: OrganizationParts): Hono {
  const { organizations } = store;
  const routes = new Hono();

  routes.post(
    '/organizations',
    declared(OPERATIONS.createOrganization, async (c) => {
      const { slug, displayName: name, organizationId } = await jsonBody(c, organizationBody);
      const wish: OrganizationWish = {
        slug,
        displayName: name,
        ...(organizationId !== undefined && { organizationId }),
      };
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
    }),
  );

  routes.get(
    '/organizations',
    declared(OPERATIONS.listOrganizations, async (c) => {
      const { after, limit } = pageQuery(c);
      const rows = await organizations.all(after ?? '', limit + 1);
      const items = rows.slice(0, limit);
      const next = rows.length > limit ? items.at(-1)?.slug : undefined;
      const texts = items.map((row) => JSON.stringify(row));
      return pageText(c, next === undefined ? { items: texts } : { items: texts, next });
    }),
  );
  return routes;
}
