// POST /commands: what comes back for an accepted Command, for its repetition, and for what is none.
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { COMMAND_BODY_MAXIMUM } from '../../src/http/bodies.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, errorIn, path, refusalIn } from './api.ts';

describe.each(STORES)('$name: submitting Commands', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let ada: ActorKey;

  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    api = new Api(tenant);
    olga = await tenant.human('olga');
    ada = await tenant.agent('ada');
  });
  afterEach(() => opened.close());

  const creation = (mission = Mission.draft(tenant, olga, ada)) => tenant.sign(olga, mission.creation());

  it('MWP-EVT-003a: the receipt and its Events come as stored, and the same receipt bytes for a repetition', async () => {
    const bytes = creation();
    const first = await api.submit(olga, bytes);
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('application/json');
    expect(first.json.duplicate).toBe(false);
    expect(first.json.events.map((event: object) => checkDocument('event', event).valid)).toEqual([true]);
    const again = await api.submit(olga, bytes);
    expect(again.json.duplicate).toBe(true);
    expect(again.text).toBe(first.text.replace('"duplicate":false', '"duplicate":true'));
    const { actionId, primaryEventId, groups } = first.json.receipt;
    const stored = await opened.store.read(tenant.organization.organizationId, (reader) =>
      reader.event(primaryEventId),
    );
    expect(first.text).toContain(stored?.body);
    const receipt = await api.get(olga, `/receipts/${path(actionId)}`);
    expect(first.text).toBe(`${receipt.text.slice(0, -1)},"duplicate":false}`);
    const event = await api.get(olga, `/groups/${path(groups[0]?.groupId ?? '')}/events/${path(primaryEventId)}`);
    expect(event.text).toBe(stored?.body);
  });

  it("a receipt is its actor's alone", async () => {
    const { json } = await api.submit(olga, creation());
    const route = `/receipts/${path(json.receipt.actionId)}`;
    expect((await api.get(olga, route)).status).toBe(200);
    expect(refusalIn(await api.get(ada, route))).toBe('404 INVALID_COMMAND');
    expect(refusalIn(await api.get(olga, `/receipts/${path(id())}`))).toBe('404 INVALID_COMMAND');
  });

  it('MWP-EXT-004b: a refusal names the Action ID, and the Group only to who may know of it', async () => {
    const mission = await Mission.create(tenant, olga, ada);
    const cancel = { kind: 'mission.cancel', groupId: mission.groupId, payload: { reason: 'no' } } as const;
    const stale = tenant.sign(olga, { ...cancel, actionId: 'urn:test:action:stale' }, { membershipEpoch: 9 });
    const answer = await api.submit(olga, stale);
    expect(refusalIn(answer)).toBe('409 MEMBERSHIP_STALE');
    expect(errorIn(answer)).toMatchObject({
      relatedActionId: 'urn:test:action:stale',
      groupId: mission.groupId,
      retryable: false,
    });
    const eve = await tenant.human('eve');
    const foreign = await api.submit(eve, tenant.sign(eve, cancel, { membershipEpoch: 1 }));
    expect(refusalIn(foreign)).toBe('404 GROUP_NOT_FOUND');
    expect(foreign.text).not.toContain(mission.groupId);
  });

  it("MWP-EVT-001g: only the actor's own token submits, or that of a service that may relay", async () => {
    const bytes = creation();
    const relay = await tenantService('relay', true);
    const plain = await tenantService('plain', false);
    expect(refusalIn(await api.submit(ada, bytes))).toBe('403 AUTH_FORBIDDEN');
    expect(refusalIn(await api.submit(plain, bytes))).toBe('403 AUTH_FORBIDDEN');
    const relayed = await api.submit(relay, bytes);
    expect(relayed.status).toBe(200);
    expect(relayed.json.events[0]?.actor).toEqual(olga.principal);
  });

  it('MWP-EVT-012b: what is not one strict JSON value is a PROTOCOL_VIOLATION of the client', async () => {
    const good = Buffer.from(creation()).toString('utf8');
    const twice = `{"actionId":"urn:x:1",${good.slice(1)}`;
    const wrong: (string | Uint8Array)[] = [
      '',
      '{',
      `${good}{}`,
      `\ufeff${good}`,
      twice,
      Buffer.from([0x7b, 0xff, 0x7d]),
      '['.repeat(1_000) + ']'.repeat(1_000),
    ];
    const token = await api.tokenOf(olga);
    for (const body of wrong) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      const answer = await api.org('POST', '/commands', { token, bytes });
      expect(refusalIn(answer)).toBe('400 PROTOCOL_VIOLATION');
    }
    for (const contentType of ['text/plain', 'application/jsonp', '']) {
      const answer = await api.org('POST', '/commands', { token, bytes: Buffer.from(good), contentType });
      expect(refusalIn(answer)).toBe('415 PROTOCOL_VIOLATION');
    }
    const zipped = { token, bytes: gzipSync(good), headers: { 'content-encoding': 'gzip' } };
    expect(refusalIn(await api.org('POST', '/commands', zipped))).toBe('415 PROTOCOL_VIOLATION');
    expect(refusalIn(await api.org('POST', '/commands', { token }))).toBe('415 PROTOCOL_VIOLATION');
    for (const body of [{}, [], null, 'text', { kind: 'mission.create' }]) {
      expect(refusalIn(await api.org('POST', '/commands', { token, body }))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    const later = JSON.stringify({ ...(JSON.parse(good) as object), protocolVersion: '0.2' });
    const unsupported = await api.org('POST', '/commands', { token, bytes: Buffer.from(later) });
    expect(refusalIn(unsupported)).toBe('400 UNSUPPORTED_VERSION');
    const withCharset = { token, bytes: Buffer.from(good), contentType: 'Application/JSON; charset=utf-8' };
    expect((await api.org('POST', '/commands', withCharset)).status).toBe(200);
  });

  it('a body beyond the bound is 413 and is not read; one right at the bound is', async () => {
    const token = await api.tokenOf(olga);
    const over = await api.org('POST', '/commands', { token, bytes: Buffer.alloc(COMMAND_BODY_MAXIMUM + 1, 0x20) });
    expect(refusalIn(over)).toBe('413 PROTOCOL_VIOLATION');
    const lying = {
      token,
      bytes: Buffer.alloc(COMMAND_BODY_MAXIMUM + 1, 0x20),
      headers: { 'transfer-encoding': 'chunked' },
    };
    expect(refusalIn(await api.org('POST', '/commands', lying))).toBe('413 PROTOCOL_VIOLATION');
    const command = Buffer.from(creation());
    const full = Buffer.concat([command, Buffer.alloc(COMMAND_BODY_MAXIMUM - command.length, 0x20)]);
    expect((await api.org('POST', '/commands', { token, bytes: full })).status).toBe(200);
    const login = await api.org('POST', '/auth/token', { bytes: Buffer.alloc(20_000, 0x20) });
    expect(refusalIn(login)).toBe('413 PROTOCOL_VIOLATION');
  });

  it('text with NUL, quotes, lone escapes and astral characters is kept as it was sent', async () => {
    const mission = await Mission.create(tenant, olga, ada);
    const text = 'a\u0000b "quoted" \\u0041 \u2028 \u{1F600} é e\u0301 </script>';
    const { json } = await api.get(olga, `/groups/${path(mission.groupId)}`);
    await mission.say(olga, text, json.group.mainConversationId);
    const route = `/groups/${path(mission.groupId)}/conversations/${path(json.group.mainConversationId)}/messages`;
    const messages = await api.all(olga, route);
    expect(messages.map(({ message }) => message.content)).toEqual([[{ type: 'text', text }]]);
  });

  it('MWP-EVT-003a: 20 identical Commands at once give 20 equal receipts and one Event', async () => {
    const bytes = creation();
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.submit(olga, bytes)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ json }) => JSON.stringify(json.receipt))).size).toBe(1);
    expect(answers.filter(({ json }) => json.duplicate === false)).toHaveLength(1);
  });

  it('what costs a verification waits in the lane of its tenant, and logins in one of their own', async () => {
    const lanes: string[] = [];
    const turns = {
      run: <Result>({ lane }: { lane: string }, job: () => Promise<Result>) => {
        lanes.push(lane);
        return job();
      },
    };
    const watched = new Api(tenant, { turns });
    await watched.submit(olga, creation());
    await watched.ask('POST', '/v1/orgs/nowhere/auth/token', {
      body: { principal: olga.principal, challenge: 'AAAA', challengeSignature: 'AAAA' },
    });
    const { organizationId } = tenant.organization;
    expect(lanes).toEqual([`login ${organizationId}`, organizationId, 'login ']);
  });

  it('the log tells tenant, Group and Action ID and never a payload, a token or a key', async () => {
    const mission = await Mission.create(tenant, olga, ada);
    await api.submit(olga, tenant.sign(olga, { ...mission.creation(), actionId: 'urn:test:action:seen' }));
    const token = await api.tokenOf(olga);
    await api.logIn({ ...olga, signer: ada.signer });
    const log = api.log.join('');
    expect(log).toContain('urn:test:action:seen');
    expect(log).toContain(tenant.organization.organizationId);
    for (const secret of [token, 'Ship the release', 'It is shipped', olga.publicKey, 'challenge":"']) {
      expect(log).not.toContain(secret);
    }
  });

  async function tenantService(name: string, relay: boolean): Promise<ActorKey> {
    const { organizationId } = tenant.organization;
    const key = generateActorKey({ type: 'service', id: `${organizationId}:service:${name}` });
    const policy = await opened.store.organizations.policy(organizationId);
    const services = [...policy.services, { serviceId: key.principal.id, kinds: [], relay }];
    const { principal, keyId, publicKey } = key;
    const outcome = await opened.store.organizations.changeRegistry(organizationId, {
      principals: [{ principal, displayName: name }],
      bindings: [{ keyId, principal, algorithm: 'Ed25519', publicKey, validFrom: '2020-01-01T00:00:00Z' }],
      policy: { ...DEFAULT_POLICY, ...policy, version: policy.version + 1, services },
    });
    expect(outcome).toMatchObject({ outcome: 'done' });
    return key;
  }
});
