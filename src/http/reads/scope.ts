// What every read below a Group shares: one snapshot, and what the caller may see in it, judged before anything is read.
import type { Context, Handler } from 'hono';
import { sightOf } from '../../delivery/sight.ts';
import type { Sight } from '../../delivery/visibility.ts';
import type { Principal } from '../../protocol/principals.ts';
import type { AuthorityStore, OrganizationRow, Reader } from '../../store/port.ts';
import { orThrow } from '../errors.ts';
import { idParameter } from '../parameters.ts';
import type { TenantEnv } from '../tenancy.ts';

export interface TenantScope {
  c: Context<TenantEnv>;
  reader: Reader;
  organization: OrganizationRow;
  principal: Principal;
}

export interface GroupScope extends TenantScope {
  groupId: string;
  sight: Sight;
}

export function tenantRead(
  store: AuthorityStore,
  answer: (scope: TenantScope) => Promise<Response>,
): Handler<TenantEnv> {
  return (c) => inTenant(c, store, answer);
}

/** One snapshot for `work`, and over when it is: for who goes on without the database. */
export function inTenant<Result>(
  c: Context<TenantEnv>,
  store: AuthorityStore,
  work: (scope: TenantScope) => Promise<Result>,
): Promise<Result> {
  const organization = c.get('organization');
  const { principal } = c.get('bearer');
  return store.read(organization.organizationId, (reader) => work({ c, reader, organization, principal }));
}

/** For paths with `:groupId`. GROUP_NOT_FOUND or MEMBERSHIP_REQUIRED before `answer` is asked. */
export function groupRead(store: AuthorityStore, answer: (scope: GroupScope) => Promise<Response>): Handler<TenantEnv> {
  return tenantRead(store, async (scope) => {
    const groupId = idParameter(scope.c, 'groupId') ?? '';
    const sight = orThrow(await sightOf(scope.reader, groupId === '' ? undefined : groupId, scope.principal));
    return answer({ ...scope, groupId, sight });
  });
}
