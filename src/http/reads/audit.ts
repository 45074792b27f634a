// GET /audit: the protected record of refusals, with the stage and reason that no sender is told, for auditors alone
// (MWP-SDV-018c). With `groupId`, what was refused in that Group (MWP-SDV-018d).
import { Hono } from 'hono';
import { isAuditor } from '../../domain/policy.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { fail } from '../errors.ts';
import { pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { idQuery, numberedPageQuery } from '../parameters.ts';
import type { TenantEnv } from '../tenancy.ts';
import { OWN_READS } from './operations.ts';
import { tenantRead, type TenantScope } from './scope.ts';

export function auditReadRoutes({ store }: { store: AuthorityStore }): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.get('/audit', declared(OWN_READS.audit, tenantRead(store, audit)));
  return routes;
}

/** Who is no auditor is told so before the query is looked at: one answer, whatever Group is asked for. */
async function audit({ c, reader, principal }: TenantScope): Promise<Response> {
  if (!isAuditor(await reader.policy(), principal)) {
    throw fail('AUTH_FORBIDDEN', 'only auditors of this Organization read its audit');
  }
  const { after, limit } = numberedPageQuery(c);
  const rows = await reader.audit(after, limit + 1, idQuery(c, 'groupId'));
  const looked = rows.slice(0, limit);
  const items = looked.map((row) => JSON.stringify(row));
  const last = looked.at(-1);
  return pageText(c, rows.length > limit && last ? { items, next: String(last.id) } : { items });
}
