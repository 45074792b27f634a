// One registry of one composed service (tests compose several in a process), and the text that Prometheus reads. What a
// process has but once, its memory and event loop, stands in a registry of its own.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The content type of the text. */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Seconds. From what one decision takes to the longest that anything is waited for. */
const SHORT = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds of a whole request. */
const WHOLE = SHORT.slice(3);

/** Tenants with a label of their own; later ones share `other`, so that no number of tenants fills the memory. */
export const TENANT_LABELS_MAXIMUM = 100;
export const OTHER_TENANTS = 'other';

export class Metrics {
  readonly registry = new Registry();
  private rendering: Promise<string> | undefined;

  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name: `mwp_${name}`, help, labelNames, registers: [this.registry] });
  }

  /** `collect` sets it whenever it is read. */
  gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (gauge: Gauge<Label>) => void,
  ): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      name: `mwp_${name}`,
      help,
      labelNames,
      registers: [this.registry],
      ...(collect && { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  seconds<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    of: 'a step' | 'a request' = 'a step',
  ): Histogram<Label> {
    const buckets = of === 'a step' ? SHORT : WHOLE;
    return new Histogram({ name: `mwp_${name}`, help, labelNames, buckets, registers: [this.registry] });
  }

  counts<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name: `mwp_${name}`, help, labelNames, buckets, registers: [this.registry] });
  }

  /** All of it, once for everybody who asks at the same time. */
  text(): Promise<string> {
    this.rendering ??= Promise.all([this.registry.metrics(), processRegistry().metrics()])
      .then((texts) => texts.join('\n'))
      .finally(() => (this.rendering = undefined));
    return this.rendering;
  }
}

let ofProcess: Registry | undefined;

/** Its observers cannot be taken off again, so there is one, made when somebody first reads it. */
function processRegistry(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** Which label a tenant has: its slug for those that came first, the common one for the others. */
export class TenantLabels {
  private readonly named = new Set<string>();

  of(slug: string): string {
    if (this.named.has(slug)) return slug;
    if (this.named.size >= TENANT_LABELS_MAXIMUM) return OTHER_TENANTS;
    this.named.add(slug);
    return slug;
  }
}
