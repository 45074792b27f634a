// GET /metrics for Prometheus: on a listener of its own, which only the operator's network reaches, or beside the API for
// who shows the operator token.
import { Hono } from 'hono';
import { METRICS_CONTENT_TYPE } from '../platform/metrics.ts';
import { declared, type Operation } from './openapi/operation.ts';
import { operatorOnly, type GuardParts } from './operator/guard.ts';

const METRICS: Operation = {
  id: 'readMetrics',
  tag: 'Service',
  summary: 'What Prometheus reads',
  description: 'Counters and times of this process, in the text format of Prometheus.',
  access: 'operator',
  answers: { 200: { description: 'The metrics.', contentTypes: ['text/plain'] } },
};

/** Without an operator token there is nothing there. */
export interface MetricsParts extends GuardParts {
  text: () => Promise<string>;
}

/** Beside the API. */
export function metricsRoutes({ text, ...guard }: MetricsParts): Hono {
  const routes = new Hono();
  routes.use('/metrics', operatorOnly(guard));
  routes.get(
    '/metrics',
    declared(METRICS, async (c) => c.body(await text(), 200, { 'Content-Type': METRICS_CONTENT_TYPE })),
  );
  return routes;
}

/** On its own listener: whoever reaches that may read. */
export function metricsApp(text: () => Promise<string>): Hono {
  const app = new Hono();
  app.get('/metrics', async (c) => c.body(await text(), 200, { 'Content-Type': METRICS_CONTENT_TYPE }));
  return app;
}
