// GET /audit: the protected record of refusals, with the stage and reason that no sender is told, for auditors alone
// (MWP-SDV-018c). With `groupId`, what was refused in that Group (MWP-SDV-018d), sealed with its archival or not.
import { Hono } from 'hono';
import type { AuditBlobs } from '../../archive/audit/ports.ts';
import { auditOfGroup } from '../../archive/audit/read.ts';
import { isAuditor } from '../../domain/policy.ts';
import type { KeyVault } from '../../platform/key-vault.ts';
import type { AuditRow, AuthorityStore } from '../../store/port.ts';
import { fail } from '../errors.ts';
import { pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { idQuery, numberedPageQuery } from '../parameters.ts';
import type { TenantEnv } from '../tenancy.ts';
import { OWN_READS } from './operations.ts';
import { tenantRead, type TenantScope } from './scope.ts';

export interface AuditReadParts {
  store: AuthorityStore;
  auditBlobs: Pick<AuditBlobs, 'get'>;
  vault: KeyVault;
}

export function auditReadRoutes(parts: AuditReadParts): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  const audit = tenantRead(parts.store, (scope) => auditPage(scope, parts));
  routes.get('/audit', declared(OWN_READS.audit, audit));
  return routes;
}

/** Who is no auditor is told so before the query is looked at: one answer, whatever Group is asked for. */
async function auditPage(scope: TenantScope, parts: AuditReadParts): Promise<Response> {
  const { c, reader, principal } = scope;
  if (!isAuditor(await reader.policy(), principal)) {
    throw fail('AUTH_FORBIDDEN', 'only auditors of this Organization read its audit');
  }
  const { after, limit } = numberedPageQuery(c);
  const rows = await auditRows(scope, { groupId: idQuery(c, 'groupId'), after, limit: limit + 1 }, parts);
  const looked = rows.slice(0, limit);
  const items = looked.map((row) => JSON.stringify(row));
  const last = looked.at(-1);
  return pageText(c, rows.length > limit && last ? { items, next: String(last.id) } : { items });
}

async function auditRows(
  { reader, organization }: TenantScope,
  { groupId, after, limit }: { groupId: string | undefined; after: number; limit: number },
  { auditBlobs: blobs, vault }: AuditReadParts,
): Promise<AuditRow[]> {
  if (groupId === undefined) return reader.audit(after, limit);
  const { organizationId } = organization;
  return auditOfGroup(reader, { organizationId, groupId }, { afterId: after, limit }, { blobs, vault });
}
