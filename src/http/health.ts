// GET /healthz: does the process run. GET /readyz: may it be sent work. Neither names a tenant, an address or a secret.
import { Hono } from 'hono';
import type { Readiness } from './readiness.ts';

export interface HealthParts {
  readiness: Readiness;
  isStopping: () => boolean;
}

export function healthRoutes({ readiness, isStopping }: HealthParts): Hono {
  const routes = new Hono();
  routes.get('/healthz', (c) => c.json({ status: 'ok' }));
  routes.get('/readyz', async (c) => {
    // Whoever stops asks nobody, so that a silent dependency cannot keep this from being told.
    if (isStopping()) return c.json({ status: 'not_ready', problems: ['the service is stopping'] }, 503);
    const report = await readiness.ask();
    return c.json(report, report.status === 'ready' ? 200 : 503);
  });
  return routes;
}
