// Every bound of the API from both sides: what fits is taken, and one more byte, level, item or character is refused with the
// right code. What the domain alone bounds stands with its kinds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_BODY_MAXIMUM, LOGIN_BODY_MAXIMUM, OPERATOR_BODY_MAXIMUM } from '../../src/http/bodies.ts';
import { MAX_JSON_DEPTH } from '../../src/wire/strict-json.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, path, refusalIn, type Answer } from './api.ts';
import { agentCard } from './cards.ts';
import { Operator } from './operator-api.ts';

const TOO_LARGE = '413 PROTOCOL_VIOLATION';
const MALFORMED = '400 SCHEMA_VALIDATION_FAILED';

/** The same JSON with blanks behind it, so many bytes in all. */
const padded = (text: string, length: number): Uint8Array => new Uint8Array(Buffer.from(text.padEnd(length, ' ')));
/** Without a declared length, in pieces. */
const streamed = (bytes: Uint8Array): ReadableStream =>
  new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.slice(at, at + 65_536));
      controller.close();
    },
  });

describe.each(STORES)('$name: bounds', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let mission: Mission;
  let conversationId: string;

  beforeAll(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    api = new Api(tenant);
    olga = await tenant.human('olga');
    mission = await Mission.create(tenant, olga, await tenant.agent('ada'));
    conversationId = (await api.get(olga, `/groups/${path(mission.groupId)}`)).json.group.mainConversationId;
  });
  afterAll(() => opened.close());

  const message = (payload: object) =>
    tenant.sign(
      olga,
      { kind: 'message.post', groupId: mission.groupId, payload: { messageId: id(), conversationId, ...payload } },
      { membershipEpoch: 1 },
    );
  const post = (content: unknown) => api.submit(olga, message({ content }));
  const outcome = (answer: Answer) => (answer.status < 300 ? String(answer.status) : refusalIn(answer));

  it('a Command of 1 MiB is taken, and one byte more is a 413, with a declared length and without', async () => {
    const token = await api.tokenOf(olga);
    const send = (length: number, asStream: boolean) => {
      const bytes = padded(Buffer.from(message({ content: 'Hello' })).toString(), length);
      if (asStream) return sendStream(bytes, token);
      return api.org('POST', '/commands', { token, bytes, headers: { 'content-length': String(length) } });
    };
    for (const asStream of [false, true]) {
      expect(outcome(await send(COMMAND_BODY_MAXIMUM, asStream))).toBe('200');
      expect(outcome(await send(COMMAND_BODY_MAXIMUM + 1, asStream))).toBe(TOO_LARGE);
    }
  });

  async function sendStream(bytes: Uint8Array, token: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: streamed(bytes), duplex: 'half' } as RequestInit;
    const response = await api.app.request(`/v1/orgs/${tenant.organization.slug}/commands`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer['json'] };
  }

  it('a login of 16 KiB is read, and one byte more is a 413', async () => {
    const { principal, keyId } = olga;
    const text = JSON.stringify({ principal, keyId, clientNonce: 'abcd' });
    const ask = (length: number) => {
      const headers = { 'content-length': String(length) };
      return api.org('POST', '/auth/challenge', { bytes: padded(text, length), headers });
    };
    expect(outcome(await ask(LOGIN_BODY_MAXIMUM))).toBe('200');
    expect(outcome(await ask(LOGIN_BODY_MAXIMUM + 1))).toBe(TOO_LARGE);
  });

  it('a nonce has at most 256 characters', async () => {
    const { principal, keyId } = olga;
    const ask = (length: number) =>
      api.org('POST', '/auth/challenge', { body: { principal, keyId, clientNonce: 'A'.repeat(length) } });
    expect(outcome(await ask(256))).toBe('200');
    expect(outcome(await ask(260))).toBe(MALFORMED);
  });

  it('a Command nests 64 levels and no more, and a flood of brackets costs no stack', async () => {
    // The Command, its payload, the content and the part stand around the data.
    const around = 4;
    const nested = (levels: number) =>
      post([
        {
          type: 'data_ref',
          schema: 'urn:test:schema',
          data: { a: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown },
        },
      ]);
    expect(outcome(await nested(MAX_JSON_DEPTH - around - 1))).toBe('200');
    expect(outcome(await nested(MAX_JSON_DEPTH - around))).toBe('400 PROTOCOL_VIOLATION');
    const token = await api.tokenOf(olga);
    const flood = new Uint8Array(Buffer.alloc(COMMAND_BODY_MAXIMUM, '['));
    expect(outcome(await api.org('POST', '/commands', { token, bytes: flood }))).toBe('400 PROTOCOL_VIOLATION');
  });

  it('texts and arrays of a Message end where their documents say', async () => {
    const part = { type: 'text', text: 'x' };
    expect(outcome(await post('😀'.repeat(100_000)))).toBe('200');
    expect(outcome(await post('x'.repeat(100_001)))).toBe('422 INVALID_COMMAND');
    expect(outcome(await post(Array(100).fill(part)))).toBe('200');
    expect(outcome(await post(Array(101).fill(part)))).toBe('422 INVALID_COMMAND');
  });

  it('an id has at most 512 characters, in a body and in a path', async () => {
    const messageId = (length: number) => `urn:test:${'x'.repeat(length - 9)}`;
    const say = (length: number) => api.submit(olga, message({ content: 'x', messageId: messageId(length) }));
    expect(outcome(await say(512))).toBe('200');
    expect(outcome(await say(513))).toBe('422 INVALID_COMMAND');
    for (const length of [512, 513]) {
      const answer = await api.get(olga, `/groups/${path(messageId(length))}`);
      expect(outcome(answer)).toBe('404 GROUP_NOT_FOUND');
    }
  });

  it('a page has 1 to 200 items, a cursor at most 1,100 characters, a position at most 15 digits', async () => {
    const group = `/groups/${path(mission.groupId)}`;
    const ask = async (below: string) => outcome(await api.get(olga, below));
    for (const list of ['/missions', `${group}/memberships`, `${group}/events`]) {
      expect(await ask(`${list}?limit=1`)).toBe('200');
      expect(await ask(`${list}?limit=200`)).toBe('200');
      for (const limit of ['0', '201', '99999', '1e2', '', '-1'])
        expect(await ask(`${list}?limit=${limit}`)).toBe(MALFORMED);
    }
    expect(await ask(`${group}/memberships?after=${'x'.repeat(1_100)}`)).toBe('200');
    expect(await ask(`${group}/memberships?after=${'x'.repeat(1_101)}`)).toBe(MALFORMED);
    expect(await ask(`${group}/events?after=${'9'.repeat(15)}`)).toBe('200');
    expect(await ask(`${group}/events?after=${'9'.repeat(16)}`)).toBe(MALFORMED);
  });

  it('a token has at most 4,096 characters', async () => {
    for (const length of [4_096, 4_097, 15_000]) {
      expect(outcome(await api.org('GET', '/me', { token: 'x'.repeat(length) }))).toBe('401 AUTH_REQUIRED');
    }
  });
});

describe.each(STORES)('$name: bounds of the operator API', ({ open }) => {
  let opened: OpenedStore;
  let operator: Operator;
  beforeAll(async () => {
    opened = await open();
    operator = new Operator(opened.store);
    await operator.create();
  });
  afterAll(() => opened.close());

  it('a body of 256 KiB is read, and one byte more is a 413', async () => {
    const ask = async (length: number) => {
      const wish = { slug: 'acme', displayName: 'Acme Inc.', more: '' };
      const more = 'x'.repeat(length - JSON.stringify(wish).length);
      return refusalIn(await operator.call('POST', '/organizations', { ...wish, more }));
    };
    expect(await ask(OPERATOR_BODY_MAXIMUM)).toBe(MALFORMED);
    expect(await ask(OPERATOR_BODY_MAXIMUM + 1)).toBe(TOO_LARGE);
  });

  it('a request registers at most 50 keys, and so does a Card, which registers none of them then', async () => {
    const keys = Array.from({ length: 51 }, () => generateActorKey({ type: 'human', id: 'urn:test:human:many' }));
    const [first] = keys;
    if (!first) throw new Error('no key');
    const wishes = keys.map(({ keyId, publicKey }) => ({ keyId, publicKey }));
    expect((await operator.register(first, { keys: wishes.slice(0, 50) })).status).toBe(201);
    expect(refusalIn(await operator.register(first, { keys: wishes }))).toBe(MALFORMED);
    const agents = Array.from({ length: 51 }, () => generateActorKey({ type: 'agent', id: 'urn:test:agent:many' }));
    const declared = agents.map(({ keyId, publicKey }) => ({
      keyId,
      publicKey,
      algorithm: 'Ed25519',
      validFrom: '2026-01-01T00:00:00Z',
    }));
    const card = (publicKeys: object[]) =>
      operator.call('POST', '/organizations/acme/agents', { card: agentCard(agents[0] as ActorKey, { publicKeys }) });
    expect(refusalIn(await card(declared))).toBe('422 INVALID_COMMAND');
    const { json } = await operator.call('GET', '/organizations/acme/principals?limit=200');
    expect(JSON.stringify(json.items)).not.toContain('urn:test:agent:many');
    expect((await card(declared.slice(0, 50))).status).toBe(201);
  });

  it('an Agent holds at most 5,000 items of each sort, whatever a policy wants', async () => {
    const policy = (await operator.call('GET', '/organizations/acme/policy')).json as unknown as { limits: object };
    const put = (queuedWorkItems: number) =>
      operator.call('PUT', '/organizations/acme/policy', { ...policy, limits: { ...policy.limits, queuedWorkItems } });
    expect(refusalIn(await put(5_001))).toBe(MALFORMED);
    expect((await put(5_000)).status).toBe(200);
  });
});
