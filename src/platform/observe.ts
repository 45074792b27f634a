// Metrics of one service, and traces where they are configured; only then is what they need loaded.
import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { LostTraces } from './lost-traces.ts';
import { Metrics } from './metrics.ts';
import { Observation } from './observation.ts';
import type { TracingConfig } from './tracing.ts';
import { VERSION } from './package.ts';

export interface ObserveOptions {
  /** The engine's name. */
  database: string;
  tracing: TracingConfig | undefined;
}

/** Stops with the lifecycle: call it first, so that what stops before can still be told. */
export async function observe(
  { database, tracing: config }: ObserveOptions,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<Observation> {
  const metrics = new Metrics();
  const labels = { version: VERSION, node: process.version, database };
  metrics.gauge('build_info', 'What runs here; always 1.', ['version', 'node', 'database'] as const).set(labels, 1);
  if (!config) return new Observation(metrics, logger);
  const { openTracing } = await import('./otlp.ts');
  const lost = new LostTraces(logger);
  const tracing = openTracing(config, (error) => {
    observation.tracesLost();
    lost.tell(error);
  });
  const observation = new Observation(metrics, logger, tracing);
  lifecycle.started({ name: 'the traces', stop: () => tracing.stop() });
  return observation;
}
