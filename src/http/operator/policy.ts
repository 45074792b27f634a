// GET and PUT /organizations/{slug}/policy.
import { Hono } from 'hono';
import type { Policy } from '../../domain/policy.ts';
import type { Logger } from '../../platform/logger.ts';
import { refuse } from '../../protocol/refusals.ts';
import { StoreFault, type AuthorityStore, type OrganizationRow } from '../../store/port.ts';
import { jsonBody } from '../bodies.ts';
import { fail, HttpRefusal } from '../errors.ts';
import type { RequestLimits } from '../limits/request-limits.ts';
import { declared } from '../openapi/operation.ts';
import type { Directory } from '../tenancy.ts';
import { requiredRights } from './new-organization.ts';
import { OPERATIONS } from './operations.ts';
import { organizationOf, registryRevisionOf } from './outcomes.ts';
import { policyShape } from './policy-shape.ts';

export interface PolicyParts {
  store: AuthorityStore;
  directory: Directory;
  limits: RequestLimits;
  logger: Logger;
}

export function policyRoutes({ store, directory, limits, logger }: PolicyParts): Hono {
  const { organizations } = store;
  const routes = new Hono();

  routes.get(
    '/organizations/:slug/policy',
    declared(OPERATIONS.readPolicy, async (c) => {
      const { organizationId } = await organizationOf(c, directory);
      return c.json(await organizations.policy(organizationId));
    }),
  );

  /** The version that it names must be the current one, so that two operators do not undo each other unseen. */
  routes.put(
    '/organizations/:slug/policy',
    declared(OPERATIONS.replacePolicy, async (c) => {
      const organization = await organizationOf(c, directory);
      const { organizationId } = organization;
      const wanted = await jsonBody(c, policyShape);
      checkRequiredRights(organization, wanted);
      const current = await organizations.policy(organizationId);
      if (wanted.version !== current.version) throw versionConflict(wanted.version, current.version);
      const policy: Policy = { ...wanted, version: current.version + 1 };
      try {
        registryRevisionOf(await organizations.changeRegistry(organizationId, { policy }));
      } catch (error) {
        // Each version is stored once, so of two who replace the same one the store lets one through.
        if (!(error instanceof StoreFault) || error.kind !== 'conflict') throw error;
        throw versionConflict(wanted.version, policy.version);
      }
      limits.rates.forget(organizationId);
      logger.info({ tenant: organizationId, version: policy.version }, 'the policy was replaced');
      return c.json(policy);
    }),
  );
  return routes;
}

function versionConflict(expectedRevision: number, currentRevision: number): HttpRefusal {
  return new HttpRefusal(
    refuse('REVISION_CONFLICT', 'the policy has another version', { expectedRevision, currentRevision }),
  );
}

function checkRequiredRights(organization: OrganizationRow, { services }: Policy): void {
  for (const { serviceId, kinds } of requiredRights(organization)) {
    const rights = services.find((service) => service.serviceId === serviceId);
    if (kinds.every((kind) => rights?.kinds.includes(kind))) continue;
    throw fail('INVALID_COMMAND', `the service ${serviceId} must keep ${kinds.join(', ')}`);
  }
}
