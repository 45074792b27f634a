// One Command as a collector sees it: the real exporter over real HTTP, the whole tree, and nothing secret in the bytes.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ENGINES, newPlace, Serving, SLUG, type Place } from '../support/serving.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

const CALLERS_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLERS_SPAN = '00f067aa0ba902b7';
const SECRET_TEXT = 'unmistakable-objective-of-a-mission';

/** Takes whatever is posted to it and keeps the bytes. */
class Collector {
  readonly bodies: Buffer[] = [];
  readonly paths = new Set<string>();
  readonly types = new Set<string>();
  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** `answers`: false leaves every batch without an answer. */
  static async open(answers = true): Promise<Collector> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const collector = new Collector(server);
    server.on('request', (request: IncomingMessage, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        collector.bodies.push(Buffer.concat(chunks));
        collector.paths.add(request.url ?? '');
        collector.types.add(request.headers['content-type'] ?? '');
        if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    return collector;
  }

  spans(): Span[] {
    return this.bodies.flatMap((body) => {
      const { resourceSpans } = JSON.parse(body.toString()) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
      };
      return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
    });
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('traces', { timeout: 60_000 }, () => {
  const opened: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function traced(place: Place, environment: Record<string, string>): Promise<Serving> {
    opened.push(place.giveBack);
    const serving = await Serving.start({ ...place.environment, ...environment });
    opened.push(() => serving.service.stop());
    await serving.people();
    return serving;
  }

  async function collector(answers = true): Promise<Collector> {
    const made = await Collector.open(answers);
    opened.push(() => made.close());
    return made;
  }

  it.each(ENGINES)('show one Command as one tree below its caller’s span, on %s', async (engine) => {
    const there = await collector();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: there.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    const serving = await traced(await newPlace(engine), environment);
    const command = serving.creation({ objective: SECRET_TEXT });
    const token = await serving.tokenOf(serving.olga);
    const traceparent = `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01`;
    const answer = await serving.submit(serving.olga, command.bytes, { traceparent, 'x-request-id': 'request-7' });
    expect(answer.status).toBe(200);
    const lines = serving.lines('request').filter(({ traceId }) => traceId === CALLERS_TRACE);
    expect(lines).toMatchObject([{ requestId: 'request-7', route: '/v1/orgs/:slug/commands', status: 200 }]);
    await serving.service.stop(); // sends what is left

    expect([...there.paths, ...there.types]).toEqual(['/v1/traces', 'application/json']);
    const spans = there.spans().filter(({ traceId }) => traceId === CALLERS_TRACE);
    const root = spans.find(({ parentSpanId }) => parentSpanId === CALLERS_SPAN);
    expect(root?.name).toBe('POST /v1/orgs/:slug/commands');
    expect(attributesOf(root)).toMatchObject({
      'mwp.tenant': SLUG,
      'mwp.group_id': command.document.groupId,
      'mwp.action_id': command.actionId,
      'mwp.command_kind': 'mission.create',
      'mwp.outcome': 'accepted',
      'mwp.request_id': 'request-7',
      'http.response.status_code': 200,
    });
    const below = (parent: Span | undefined) => spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
    expect(below(root).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['turn turns', 'prepare', 'acceptance']),
    );
    const acceptance = spans.find(({ name }) => name === 'acceptance');
    const inAcceptance = below(acceptance).map(({ name }) => name);
    expect(inAcceptance).toEqual(expect.arrayContaining(['open', 'decide', 'commit']));
    if (engine === 'postgres') {
      const trips = inAcceptance.filter((name) => name.startsWith('database '));
      expect(trips).toEqual(['database open_batch', 'database write_batch']);
    }
    for (const span of spans)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));

    const bytes = Buffer.concat(there.bodies).toString();
    const { signature } = command.document;
    for (const secret of [token, SECRET_TEXT, signature.value, serving.olga.publicKey, 'an-operator-token'])
      expect(bytes).not.toContain(secret);
  });

  it('come as protobuf unless JSON is asked for, and not at all from a caller who does not record', async () => {
    const there = await collector();
    const serving = await traced(await newPlace('sqlite'), { OTEL_EXPORTER_OTLP_ENDPOINT: there.url });
    const unsampled = `00-${CALLERS_TRACE}-${CALLERS_SPAN}-00`;
    await serving.submit(serving.olga, serving.creation().bytes, { traceparent: unsampled });
    await serving.service.stop();
    expect([...there.types]).toEqual(['application/x-protobuf']);
    const bytes = Buffer.concat(there.bodies);
    expect(bytes.includes('POST /v1/operator/organizations')).toBe(true);
    expect(bytes.includes(Buffer.from(CALLERS_TRACE, 'hex'))).toBe(false);
  });

  it('begin anew for a caller whose header is none, however it is made up', async () => {
    const there = await collector();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: there.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    const serving = await traced(await newPlace('sqlite'), environment);
    const hostile = [
      `00-${'0'.repeat(32)}-${CALLERS_SPAN}-01`,
      `00-${CALLERS_TRACE}-${'0'.repeat(16)}-01`,
      `00-${CALLERS_TRACE.toUpperCase()}-${CALLERS_SPAN}-01`,
      `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01-more`,
      `ff-${CALLERS_TRACE}-${CALLERS_SPAN}-01`,
      `01-${CALLERS_TRACE}-${CALLERS_SPAN}-01-${'x'.repeat(8_000)}`,
      '"; DROP TABLE spans',
      '',
    ];
    for (const traceparent of hostile) {
      const headers = { traceparent, tracestate: 'x=1,'.repeat(500), baggage: 'a=b;'.repeat(500) };
      expect((await fetch(`${serving.url}/healthz`, { headers })).status).toBe(200);
    }
    await serving.service.stop();
    const spans = there.spans().filter(({ name }) => name === 'GET /healthz');
    expect(spans.map(({ parentSpanId }) => parentSpanId ?? '')).toEqual(hostile.map(() => ''));
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(hostile.length);
    expect(spans.map(({ traceId }) => traceId)).not.toContain(CALLERS_TRACE);
  });

  it.each([
    ['is not there', async () => 'http://127.0.0.1:1'],
    ['never answers', async () => (await collector(false)).url],
  ])('cost no Command and no second of the stop where the collector %s', async (_, url) => {
    const serving = await traced(await newPlace('sqlite'), { OTEL_EXPORTER_OTLP_ENDPOINT: await url() });
    for (let time = 0; time < 5; time += 1)
      expect((await serving.submit(serving.olga, serving.creation().bytes)).status).toBe(200);
    const begun = performance.now();
    await serving.service.stop();
    // Two for what is left, the rest for a machine with other work.
    expect(performance.now() - begun).toBeLessThan(4_500);
  });
});

function attributesOf(span: Span | undefined): Record<string, unknown> {
  return Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => {
      const { stringValue, intValue } = value;
      return [key, stringValue ?? Number(intValue)];
    }),
  );
}
