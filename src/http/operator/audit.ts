// GET /organizations/{slug}/audit: the protected record of refusals, with the stage and reason that no client is told.
import { Hono } from 'hono';
import type { AuthorityStore } from '../../store/port.ts';
import { pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { numberedPageQuery } from '../parameters.ts';
import type { Directory } from '../tenancy.ts';
import { OPERATIONS } from './operations.ts';
import { organizationOf } from './outcomes.ts';

export function auditRoutes({ store, directory }: { store: AuthorityStore; directory: Directory }): Hono {
  const routes = new Hono();
  routes.get(
    '/organizations/:slug/audit',
    declared(OPERATIONS.listAudit, async (c) => {
      const { organizationId } = await organizationOf(c, directory);
      const { after, limit } = numberedPageQuery(c);
      const rows = await store.read(organizationId, (reader) => reader.audit(after, limit + 1));
      const looked = rows.slice(0, limit);
      const items = looked.map((row) => JSON.stringify(row));
      const last = looked.at(-1);
      return pageText(c, rows.length > limit && last ? { items, next: String(last.id) } : { items });
    }),
  );
  return routes;
}
