// GET /metrics for Prometheus: on a listener of its own, which only the operator's network reaches, or beside the API for
// who shows the operator token.
import { Hono } from 'hono';
import { METRICS_CONTENT_TYPE } from '../platform/metrics.ts';
import { operatorOnly } from './operator/guard.ts';

/** Beside the API. Without an operator token there is nothing there. */
export function metricsRoutes(text: () => Promise<string>, operatorToken: string | undefined): Hono {
  const routes = new Hono();
  routes.use('/metrics', operatorOnly(operatorToken));
  routes.get('/metrics', async (c) => c.body(await text(), 200, { 'Content-Type': METRICS_CONTENT_TYPE }));
  return routes;
}

/** On its own listener: whoever reaches that may read. */
export function metricsApp(text: () => Promise<string>): Hono {
  const app = new Hono();
  app.get('/metrics', async (c) => c.body(await text(), 200, { 'Content-Type': METRICS_CONTENT_TYPE }));
  return app;
}
