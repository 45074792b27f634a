// The operator API: makes tenants and their first principals. One token rules all of it.
import { Hono } from 'hono';
import { limitBody, OPERATOR_BODY_MAXIMUM } from '../bodies.ts';
import { agentRoutes, type AgentParts } from './agents.ts';
import { auditRoutes } from './audit.ts';
import { operatorOnly } from './guard.ts';
import { organizationRoutes, type OrganizationParts } from './organizations.ts';
import { policyRoutes } from './policy.ts';
import { principalRoutes, type PrincipalParts } from './principals.ts';

export type OperatorParts = OrganizationParts & PrincipalParts & AgentParts & { operatorToken: string | undefined };

export function operatorRoutes(parts: OperatorParts): Hono {
  const routes = new Hono();
  routes.use(operatorOnly(parts.operatorToken));
  routes.use(limitBody(OPERATOR_BODY_MAXIMUM));
  routes.route('/', organizationRoutes(parts));
  routes.route('/', principalRoutes(parts));
  routes.route('/', agentRoutes(parts));
  routes.route('/', policyRoutes(parts));
  routes.route('/', auditRoutes(parts));
  routes.all('*', (c) => c.notFound());
  return routes;
}
