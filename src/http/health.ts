// GET /healthz: does the process run. GET /readyz: may it be sent work. Neither names a tenant or a secret.
import { Hono } from 'hono';
import { z } from 'zod';
import type { AuthorityStore } from '../store/port.ts';
import { component } from './openapi/components.ts';
import { declared, type Operation } from './openapi/operation.ts';

const ALIVE: Operation = {
  id: 'readHealth',
  tag: 'Service',
  summary: 'Does the process run',
  access: 'public',
  faultless: true,
  answers: {
    200: { description: 'It does.', schema: component('Alive', z.strictObject({ status: z.literal('ok') })) },
  },
};
const notReady = z.strictObject({ status: z.literal('not_ready'), problems: z.array(z.string()).min(1) });
const READY: Operation = {
  id: 'readReadiness',
  tag: 'Service',
  summary: 'May the process be sent work',
  access: 'public',
  faultless: true,
  answers: {
    200: { description: 'It may.', schema: component('Ready', z.strictObject({ status: z.literal('ready') })) },
    503: { description: 'Not now, and why.', schema: component('NotReady', notReady) },
  },
};

export interface HealthParts {
  store: AuthorityStore;
  isStopping: () => boolean;
}

export function healthRoutes({ store, isStopping }: HealthParts): Hono {
  const routes = new Hono();
  routes.get(
    '/healthz',
    declared(ALIVE, (c) => c.json({ status: 'ok' })),
  );
  routes.get(
    '/readyz',
    declared(READY, async (c) => {
      const problems = isStopping() ? ['the service is stopping'] : await problemsOf(store);
      if (problems.length === 0) return c.json({ status: 'ready' });
      return c.json({ status: 'not_ready', problems }, 503);
    }),
  );
  return routes;
}

async function problemsOf(store: AuthorityStore): Promise<string[]> {
  try {
    return await store.problems();
  } catch {
    return ['the database does not answer'];
  }
}
