// What the service asks of traces. The implementation (otlp.ts) is loaded only where an endpoint is configured, so that a
// service without one neither loads nor pays for any of it.

/** From the `traceparent` header of W3C Trace Context. */
export interface TraceParent {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

/** Names, ids and codes; never a payload, a token or a key. */
export type SpanAttributes = Record<string, string | number | undefined>;

export interface Tracing {
  /** Runs the answering of one request as a span below `parent`; what is told meanwhile belongs to it. */
  request<Result>(parent: TraceParent | undefined, work: (traceId: string) => Promise<Result>): Promise<Result>;
  /** Of the current request's span. */
  describe(attributes: SpanAttributes, more?: { name?: string; failed?: boolean }): void;
  /** A span around `work`. */
  within<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** A span that ends now; `began`: `performance.now()`. */
  ended(name: string, began: number, attributes?: SpanAttributes): void;
  /** Sends what is left, within a bound. Never rejects. */
  stop(): Promise<void>;
}

export interface TracingConfig {
  /** Where spans are posted to. */
  readonly url: string;
  readonly protocol: 'http/json' | 'http/protobuf';
  readonly serviceName: string;
  /** Share of the traces that begin here which is recorded, 0 to 1. */
  readonly ratio: number;
  /** Whether the caller's own sampling decision counts. */
  readonly heedsParent: boolean;
}

/** Length, lower case and no all-zero id are part of the format; whatever else is sent is no parent. */
const TRACE_PARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;
/** Of version 00; a later version may append, but nobody has a reason to send more. */
const TRACE_PARENT_LENGTH_MAXIMUM = 128;

export function readTraceParent(header: string | undefined): TraceParent | undefined {
  if (header === undefined || header.length > TRACE_PARENT_LENGTH_MAXIMUM || header.startsWith('ff')) return undefined;
  if (header.startsWith('00') && header.length !== 55) return undefined;
  const found = TRACE_PARENT.exec(header);
  if (!found) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = found;
  return { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 };
}
