// All reads of an Organization's API.
import { Hono } from 'hono';
import type { TenantEnv } from '../tenancy.ts';
import { auditReadRoutes, type AuditReadParts } from './audit.ts';
import { groupListRoutes } from './group-lists.ts';
import { groupReadRoutes } from './group.ts';
import { ownReadRoutes } from './own.ts';

export function readRoutes(parts: AuditReadParts): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.route('/', ownReadRoutes(parts));
  routes.route('/', auditReadRoutes(parts));
  routes.route('/', groupReadRoutes(parts));
  routes.route('/', groupListRoutes(parts));
  return routes;
}
