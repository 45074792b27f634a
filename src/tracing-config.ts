// The standard variables of OpenTelemetry, as far as they say whether, where to and how much is traced. What only concerns
// the way there (headers, certificates, compression, resource attributes) the exporter reads by itself.
import type { TracingConfig } from './platform/tracing.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const SERVICE_NAME = 'mwp-authority';

type ValueOf = (variable: string) => string | undefined;
type FaultOf = (variable: string, sentence: string) => Error;

/** Undefined: nothing is traced. Throws what `faultOf` makes of a wrong value. */
export function readTracing(valueOf: ValueOf, faultOf: FaultOf): TracingConfig | undefined {
  if (valueOf('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  if (valueOf('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  const url = readUrl(valueOf, faultOf);
  if (url === undefined) return undefined;
  return {
    url,
    protocol: readProtocol(valueOf, faultOf),
    serviceName: valueOf('OTEL_SERVICE_NAME') ?? SERVICE_NAME,
    ...readSampler(valueOf, faultOf),
  };
}

/** The variable for traces is taken as it is; the common one is a base. */
function readUrl(valueOf: ValueOf, faultOf: FaultOf): string | undefined {
  const own = valueOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (own !== undefined) return checkedUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own, faultOf);
  const base = valueOf('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (base === undefined) return undefined;
  return `${checkedUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base, faultOf).replace(/\/+$/, '')}/v1/traces`;
}

/** Not repeated: it may hold credentials. */
function checkedUrl(variable: string, text: string, faultOf: FaultOf): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw faultOf(variable, 'must look like http://host:4318');
}

function readProtocol(valueOf: ValueOf, faultOf: FaultOf): TracingConfig['protocol'] {
  const variable = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'].find(
    (name) => valueOf(name) !== undefined,
  );
  if (variable === undefined) return PROTOCOLS[0];
  const protocol = PROTOCOLS.find((known) => known === valueOf(variable));
  if (!protocol) throw faultOf(variable, `must be one of ${PROTOCOLS.join(', ')}`);
  return protocol;
}

function readSampler(valueOf: ValueOf, faultOf: FaultOf): Pick<TracingConfig, 'ratio' | 'heedsParent'> {
  const text = valueOf('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const heedsParent = text.startsWith('parentbased_');
  switch (text.replace(/^parentbased_/, '')) {
    case 'always_on':
      return { heedsParent, ratio: 1 };
    case 'always_off':
      return { heedsParent, ratio: 0 };
    case 'traceidratio':
      return { heedsParent, ratio: readRatio(valueOf, faultOf) };
    default:
      throw faultOf(
        'OTEL_TRACES_SAMPLER',
        'must be always_on, always_off or traceidratio, or one of them after parentbased_',
      );
  }
}

function readRatio(valueOf: ValueOf, faultOf: FaultOf): number {
  const text = valueOf('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw faultOf('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
}
