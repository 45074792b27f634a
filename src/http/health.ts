// GET /healthz: does the process run. GET /readyz: may it be sent work. Neither names a tenant or a secret.
import { Hono } from 'hono';
import type { AuthorityStore } from '../store/port.ts';

export interface HealthParts {
  store: AuthorityStore;
  isStopping: () => boolean;
}

export function healthRoutes({ store, isStopping }: HealthParts): Hono {
  const routes = new Hono();
  routes.get('/healthz', (c) => c.json({ status: 'ok' }));
  routes.get('/readyz', async (c) => {
    const problems = isStopping() ? ['the service is stopping'] : await problemsOf(store);
    if (problems.length === 0) return c.json({ status: 'ready' });
    return c.json({ status: 'not_ready', problems }, 503);
  });
  return routes;
}

async function problemsOf(store: AuthorityStore): Promise<string[]> {
  try {
    return await store.problems();
  } catch {
    return ['the database does not answer'];
  }
}
