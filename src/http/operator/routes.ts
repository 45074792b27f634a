// The operator API: makes tenants and their first principals. One token rules all of it.
import { Hono, type MiddlewareHandler } from 'hono';
import type { Logger } from '../../platform/logger.ts';
import { limitBody, OPERATOR_BODY_MAXIMUM } from '../bodies.ts';
import { namesOf } from '../watching.ts';
import { agentRoutes, type AgentParts } from './agents.ts';
import { operatorOnly, type GuardParts } from './guard.ts';
import { organizationRoutes, type OrganizationParts } from './organizations.ts';
import { policyRoutes, type PolicyParts } from './policy.ts';
import { principalRoutes, type PrincipalParts } from './principals.ts';
import { serviceKeyRoutes, type ServiceKeyParts } from './service-keys.ts';

export type OperatorParts = { logger: Logger } & OrganizationParts &
  PrincipalParts &
  ServiceKeyParts &
  AgentParts &
  PolicyParts &
  GuardParts;

export function operatorRoutes(parts: OperatorParts): Hono {
  const routes = new Hono();
  routes.use(changesLogged(parts.logger));
  routes.use(operatorOnly(parts));
  routes.use(limitBody(OPERATOR_BODY_MAXIMUM));
  routes.route('/', organizationRoutes(parts));
  routes.route('/', principalRoutes(parts));
  routes.route('/', serviceKeyRoutes(parts));
  routes.route('/', agentRoutes(parts));
  routes.route('/', policyRoutes(parts));
  routes.all('*', (c) => c.notFound());
  return routes;
}

/** Characters of a path in the log: a slug and an id. */
const PATH_MAXIMUM = 1_200;

/** Who holds the token is not known by name, so what was asked with it is all there is to tell, refused or not. */
function changesLogged(logger: Logger): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { method } = c.req;
    const { status } = c.res;
    const isRefused = status === 401 || status === 404;
    if (method === 'GET' && !isRefused) return;
    const asked = { ...namesOf(c), method, path: c.req.path.slice(0, PATH_MAXIMUM), status };
    if (status < 400) logger.info(asked, 'the operator changed something');
    // Not as a warning: strangers would fill the log with them.
    else logger.info(asked, 'a request for the operator was refused');
  };
}
