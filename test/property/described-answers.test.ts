// Requests made of the API's own description, right and wrong in every part: no answer comes that it does not declare.
// What is asked is random; fast-check prints the seed of a failure.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patternOf } from '../../src/http/openapi/route-table.ts';
import type { SnapshotItem } from '../../src/worker/answers.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { Described, type Content, type DescribedOperation } from '../transport/described.ts';
import { Api, putContent, path as encoded, type Answer } from '../transport/api.ts';
import { appOver, ask } from '../transport/operator-api.ts';
import { playMission, type PlayedMission } from '../transport/played-mission.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id } from '../support/mission.ts';
import { jsonOf, type Schema } from './json-of-schema.ts';

const OPERATOR = 'an-operator-token-for-tests';
const RUNS = 300;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
const ODD_TEXTS = [
  '',
  ' ',
  '%',
  '%zz',
  '%00',
  '%ff',
  '..',
  '0',
  '-1',
  '1e3',
  'urn:x:1',
  'nowhere',
  'a'.repeat(600),
  'ü',
  '{}',
];

describe.each(STORES)('$name: the description and the answers', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedMission;
  let api: Api;
  let described: Described;
  let ids: Record<string, string[]>;
  let tokens: Record<string, string | undefined>;

  beforeAll(async () => {
    opened = await open();
    played = await playMission(opened.store);
    const { vault, blobs, snapshotBlobs } = played.api;
    api = new Api(played.tenant, { vault, blobs, snapshotBlobs, operatorToken: OPERATOR });
    described = new Described((await api.ask('GET', '/openapi.json')).json);
    const eve = await played.tenant.human('eve');
    const iris = await appointAuditor(played);
    ids = await realIds(played);
    tokens = {
      ada: await api.tokenOf(played.ada),
      bob: await api.tokenOf(played.bob),
      eve: await api.tokenOf(eve),
      iris: await api.tokenOf(iris),
      operator: OPERATOR,
      wrong: 'eyJhbGciOiJIUzI1NiJ9.e30.AAAA',
      none: undefined,
    };
  });
  afterAll(() => opened.close());

  /** Whoever the operation is for. */
  const rightToken = ({ path }: DescribedOperation) =>
    path.startsWith('/v1/operator') ? OPERATOR : tokens[path.endsWith('/audit') ? 'iris' : 'ada'];
  const rightPath = ({ path }: DescribedOperation) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(ids[name]?.[0] ?? ''));

  it('every read that it lists answers with what it declares, to who may ask', async () => {
    const reads = described.operations.filter(({ method }) => method === 'GET');
    for (const operation of reads) {
      const answer = await api.ask('GET', rightPath(operation), { token: rightToken(operation) ?? '' });
      expect([operation.path, answer.status]).toEqual([operation.path, 200]);
      expect([operation.path, undeclared(described, operation, answer)]).toEqual([operation.path, []]);
    }
    expect(reads.length).toBeGreaterThan(25);
  });

  it('its examples work one after the other, from a new Organization to a registered Agent', async () => {
    const steps = ['createOrganization', 'registerPrincipal', 'addKey', 'endKey', 'registerAgent', 'askChallenge'];
    const app = appOver(opened.store);
    const statuses: [string, number][] = [];
    for (const step of steps) {
      const operation = described.operations.find(({ operation }) => operation.operationId === step);
      if (!operation) throw new Error(step);
      const [body] = described.contentsOf(operation);
      const path = operation.path.replace('{slug}', 'acme').replace('{keyId}', encoded('urn:example:key:olga:1'));
      const answer = await ask(app, operation.method, path, body?.example);
      expect([step, undeclared(described, operation, answer)]).toEqual([step, []]);
      statuses.push([step, answer.status]);
    }
    expect(statuses.map(([step, status]) => `${step} ${status}`)).toEqual([
      'createOrganization 201',
      'registerPrincipal 201',
      'addKey 201',
      'endKey 200',
      'registerAgent 201',
      'askChallenge 200',
    ]);
  });

  it('a body that its schema takes is never refused for its shape', async () => {
    const { schemas } = described.document['components'] as { schemas: Record<string, Schema> };
    const writing = described.operations.filter(
      ({ operation }) =>
        operation.requestBody?.content['application/json'] && operation.operationId !== 'submitCommand',
    );
    expect(writing.length).toBeGreaterThan(7);
    for (const operation of writing) {
      const schema = operation.operation.requestBody?.content['application/json']?.schema as Schema;
      const { pointer } = described.contentsOf(operation)[0] as Content;
      // The generator knows fewer keywords than the schemas use.
      const bodies = jsonOf(schema, schemas).filter((body) => described.faults(pointer, body).length === 0);
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const answer = await api.ask(operation.method, rightPath(operation), { token: OPERATOR, body });
          expect([undeclared(described, operation, answer), answer.status === 400 ? answer.text : '']).toEqual([
            [],
            '',
          ]);
        }),
        { numRuns: 12 },
      );
    }
  });

  it('MWP-EXT-004a: whatever is wrong with a request, its answer is declared: status, type, headers and body', async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(requests(described, ids, tokens), async (request) => {
        const { operation, method, path, token, body, contentType } = request;
        const sent = body === 'signed' ? { bytes: signedMessage(played) } : { body };
        const asked = method === 'GET' || method === 'HEAD' ? {} : { ...sent, contentType };
        const answer = await api.ask(method, path, { ...(token !== undefined && { token }), ...asked });
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        const { pathname } = new URL(path, 'http://localhost'); // an empty or odd segment may lead elsewhere
        if (method === operation.method && patternOf(operation.path).test(pathname)) {
          expect(undeclared(described, operation, answer)).toEqual([]);
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    // Both sides of the fence were walked.
    for (const status of [200, 400, 401, 404, 405]) expect([status, seen.get(status) ?? 0]).not.toEqual([status, 0]);
  });
});

/** What the answer has that the operation does not declare. */
function undeclared(described: Described, operation: DescribedOperation, { status, headers, text }: Answer): string[] {
  const answer = described.answerOf(operation, status);
  if (!answer) return [`status ${status}: ${text}`];
  const missing = Object.keys(answer.headers ?? {}).filter((name) => !headers.has(name) && name !== 'Retry-After');
  if (!answer.content) return text === '' ? missing : ['a body'];
  const type = (headers.get('content-type') ?? '').toLowerCase();
  const known = Object.keys(answer.content).find((name) => name === type || type.startsWith(`${name};`));
  if (known === undefined) return [`content type ${type}`];
  const value: unknown = known === 'application/json' ? JSON.parse(text) : text;
  return [...missing, ...described.faults(described.answerPointer(operation, status, known), value)];
}

/** A real one each time, so that some Commands are accepted. */
function signedMessage({ mission, tenant, ada }: PlayedMission): Uint8Array {
  const payload = { messageId: id(), conversationId: id(), content: 'Hello' };
  return tenant.sign(ada, mission.draft('message.post', payload), mission.epochsOf(ada));
}

/** And something for them to read. */
async function appointAuditor({ tenant, mission, ada }: PlayedMission): Promise<ActorKey> {
  const iris = await tenant.human('iris');
  const { organizations } = tenant.store;
  const policy = await organizations.policy(tenant.organization.organizationId);
  await organizations.changeRegistry(tenant.organization.organizationId, {
    policy: { ...policy, version: policy.version + 1, auditors: [iris.principal] },
  });
  expect(await mission.outcome(ada, 'mission.cancel', { reason: 'It is not hers to end' })).toBe('AUTH_FORBIDDEN');
  return iris;
}

async function realIds({
  api,
  ada,
  bob,
  group,
  mission,
  items,
  tenant,
}: PlayedMission): Promise<Record<string, string[]>> {
  const events = (await api.get(ada, `${group}/events`)).json.items as unknown as {
    eventId: string;
    cause: { id: string };
    actor: { id: string };
  }[];
  const own = events.filter(({ actor }) => actor.id === ada.principal.id).map(({ cause }) => cause.id);
  const conversations = await api.all(ada, `${group}/conversations`);
  const taken = await api.org('POST', `${group}/snapshots`, { token: await api.tokenOf(ada) });
  const { snapshot } = taken.json as unknown as SnapshotItem;
  return {
    slug: [tenant.organization.slug],
    service: ['authority', 'identity', 'registrar'],
    missionId: [mission.missionId],
    groupId: [mission.groupId],
    workItemId: Object.values(items),
    conversationId: conversations.map(({ conversation }) => conversation.conversationId),
    snapshotId: [snapshot.snapshotId],
    eventId: events.map(({ eventId }) => eventId),
    actionId: own,
    agentId: [ada.principal.id, bob.principal.id],
    contentHash: [await putContent(api, ada)],
    keyId: ['urn:test:key:nobodys'],
    file: ['swagger-ui.css', 'start.js'],
  };
}

interface RandomRequest {
  operation: DescribedOperation;
  method: string;
  path: string;
  token: string | undefined;
  body: unknown;
  contentType: string;
}

/** Each part is right more often than not, or all would end at the first check. */
function requests(
  described: Described,
  ids: Record<string, string[]>,
  tokens: Record<string, string | undefined>,
): fc.Arbitrary<RandomRequest> {
  const mostly = <Value>(right: fc.Arbitrary<Value>, wrong: fc.Arbitrary<Value>) =>
    fc.oneof({ arbitrary: right, weight: 6 }, { arbitrary: wrong, weight: 1 });
  const odd = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ maxLength: 30 }).map(encodeURIComponent));
  return fc.constantFrom(...described.operations).chain((operation) => {
    const [body] = described.contentsOf(operation);
    const example = operation.operation.requestBody ? body?.example : undefined;
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const bodies = fc.oneof(
      fc.constant(example),
      spoiled(example),
      fc.jsonValue(),
      fc.constant(operation.operation.operationId === 'submitCommand' ? 'signed' : example),
    );
    const forOperator = operation.path.startsWith('/v1/operator');
    return fc.record({
      operation: fc.constant(operation),
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS)),
      path: fc
        .tuple(
          fc.record(
            Object.fromEntries(
              names.map((name) => [name, mostly(fc.constantFrom(...(ids[name] ?? [])).map(encoded), odd)]),
            ),
          ),
          queryOf(operation, odd),
        )
        .map(
          ([values, query]) =>
            operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] as string) + query,
        ),
      token: mostly(
        fc.constant(forOperator ? tokens['operator'] : tokens['ada']),
        fc.constantFrom(...Object.values(tokens)),
      ),
      body: bodies,
      contentType: mostly(
        fc.constant(Object.keys(operation.operation.requestBody?.content ?? {})[0] ?? 'application/json'),
        fc.constantFrom('text/plain', 'application/json; charset=utf-8', 'application/xml', ''),
      ),
    });
  });
}

function queryOf({ operation }: DescribedOperation, odd: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const names = ((operation.parameters ?? []) as { name: string; in: string }[]).filter(
    (parameter) => parameter.in === 'query',
  );
  const values = fc.oneof(fc.constantFrom('1', '50', '200', '201', 'open', 'queued,active', 'active,'), odd);
  const pairs = fc.dictionary(fc.constantFrom('unknown', ...names.map(({ name }) => name)), values, { maxKeys: 3 });
  return pairs.map((query) => {
    const text = Object.entries(query)
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
    return text === '' ? '' : `?${text}`;
  });
}

/** The example with one member, at any depth, taken away, replaced or doubled under another name. */
function spoiled(example: unknown): fc.Arbitrary<unknown> {
  if (typeof example !== 'object' || example === null) return fc.jsonValue();
  const members = Object.keys(example);
  if (members.length === 0) return fc.jsonValue();
  return fc.constantFrom(...members).chain((member) => {
    const { [member]: old, ...rest } = example as Record<string, unknown>;
    return fc.oneof(
      fc.constant(rest),
      fc.jsonValue().map((value) => ({ ...example, [member]: value })),
      fc.constant({ ...example, [`${member}2`]: old }),
      spoiled(old).map((value) => ({ ...example, [member]: value })),
    );
  });
}
