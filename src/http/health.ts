// GET /healthz: does the process run. GET /readyz: may it be sent work. Neither names a tenant, an address or a secret.
import { Hono } from 'hono';
import { z } from 'zod';
import { component } from './openapi/components.ts';
import { declared, type Operation } from './openapi/operation.ts';
import type { Readiness } from './readiness.ts';

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
const dependencies = z.record(z.string(), z.enum(['ready', 'not_ready', 'silent']));
const ready = z.strictObject({ status: z.literal('ready'), dependencies });
const notReady = z.strictObject({
  status: z.literal('not_ready'),
  dependencies: dependencies.optional(),
  problems: z.array(z.string()).min(1),
});
const READY: Operation = {
  id: 'readReadiness',
  tag: 'Service',
  summary: 'May the process be sent work',
  access: 'public',
  faultless: true,
  answers: {
    200: { description: 'It may.', schema: component('Ready', ready) },
    503: { description: 'Not now, and why.', schema: component('NotReady', notReady) },
  },
};

export interface HealthParts {
  readiness: Readiness;
  isStopping: () => boolean;
}

export function healthRoutes({ readiness, isStopping }: HealthParts): Hono {
  const routes = new Hono();
  routes.get(
    '/healthz',
    declared(ALIVE, (c) => c.json({ status: 'ok' })),
  );
  routes.get(
    '/readyz',
    declared(READY, async (c) => {
      // Whoever stops asks nobody, so that a silent dependency cannot keep this from being told.
      if (isStopping()) return c.json({ status: 'not_ready', problems: ['the service is stopping'] }, 503);
      const report = await readiness.ask();
      return c.json(report, report.status === 'ready' ? 200 : 503);
    }),
  );
  return routes;
}
