// Traces over OTLP/HTTP. One provider of one service, registered nowhere globally; the current span is kept in an
// AsyncLocalStorage. Spans are batched in a bounded queue, so a collector that is slow or gone costs spans and nothing else.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context, type Span } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { SpanAttributes, TraceParent, Tracing, TracingConfig } from './tracing.ts';

/** Milliseconds for one batch to be taken; after them it is given up. */
const EXPORT_MAXIMUM = 5_000;
/** Milliseconds at the stop for what is left. */
const FLUSH_MAXIMUM = 2_000;
/** Characters of one attribute; ids of the protocol are shorter. */
const ATTRIBUTE_MAXIMUM = 1_024;

interface Current {
  context: Context;
  /** Of the request. */
  root: Span;
  /** What makes a date of `performance.now()`; taken anew for each request, because the two clocks drift apart. */
  epoch: number;
}

/** `onLost`: a batch was not taken. */
export function openTracing(config: TracingConfig, onLost: (error: unknown) => void): Tracing {
  const agents = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true })] as const;
  const sampler = new TraceIdRatioBasedSampler(config.ratio);
  const exporter = telling(exporterOf(config, agents), onLost);
  const provider = new TracerProvider({
    // OTEL_RESOURCE_ATTRIBUTES may say more, and may not say another name.
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes({ 'service.name': config.serviceName })),
    sampler: config.heedsParent ? new ParentBasedSampler({ root: sampler }) : sampler,
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_MAXIMUM },
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_MAXIMUM })],
  });
  const tracer = provider.getTracer('mwp-authority');
  const current = new AsyncLocalStorage<Current>();

  return {
    async request(parent, work) {
      const startTime = Date.now();
      const epoch = startTime - performance.now();
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER, startTime }, contextOf(parent));
      try {
        const here = { context: trace.setSpan(ROOT_CONTEXT, span), root: span, epoch };
        return await current.run(here, () => work(span.spanContext().traceId));
      } finally {
        span.end(epoch + performance.now());
      }
    },
    describe(attributes, { name, failed } = {}) {
      const root = current.getStore()?.root;
      root?.setAttributes(present(attributes));
      if (name !== undefined) root?.updateName(name);
      if (failed) root?.setStatus({ code: SpanStatusCode.ERROR });
    },
    async within(name, work) {
      const here = current.getStore();
      if (!here) return work();
      const span = tracer.startSpan(name, { startTime: here.epoch + performance.now() }, here.context);
      try {
        return await current.run({ ...here, context: trace.setSpan(here.context, span) }, work);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end(here.epoch + performance.now());
      }
    },
    ended(name, began, attributes = {}) {
      const here = current.getStore();
      if (!here) return;
      const options = { startTime: here.epoch + began, attributes: present(attributes) };
      tracer.startSpan(name, options, here.context).end(here.epoch + performance.now());
    },
    async stop() {
      await Promise.race([provider.shutdown().catch(() => undefined), delay(FLUSH_MAXIMUM, undefined, { ref: false })]);
      // What still waits for a collector must not keep the process.
      for (const agent of agents) agent.destroy();
    },
  };
}

function exporterOf({ url, protocol }: TracingConfig, [http, https]: readonly [HttpAgent, HttpsAgent]): SpanExporter {
  const options = {
    url,
    timeoutMillis: EXPORT_MAXIMUM,
    httpAgentOptions: (scheme: string) => (scheme.startsWith('https') ? https : http),
  };
  return protocol === 'http/json' ? new JsonExporter(options) : new ProtobufExporter(options);
}

/** The library tells a failure to a global logger only. */
function telling(exporter: SpanExporter, onLost: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if ((result.code as number) !== 0) onLost(result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

function contextOf(parent: TraceParent | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function present(attributes: SpanAttributes): Record<string, string | number> {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Record<string, string | number>;
}
