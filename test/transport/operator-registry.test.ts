// The operator API: principals, keys and Agent Cards of an Organization.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreEvidence } from '../../src/authority/registry-evidence.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { readDocument, verifyRead } from '../../src/trust/verify.ts';
import { canonicalBytes } from '../../src/wire/canonical.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { errorIn, path, refusalIn, type Answer } from './api.ts';
import { agentCard } from './cards.ts';
import { ask, human, Operator } from './operator-api.ts';

describe.each(STORES)('$name: operating the Registry', ({ open }) => {
  let opened: OpenedStore;
  let operator: Operator;

  beforeEach(async () => {
    opened = await open();
    operator = new Operator(opened.store);
  });
  afterEach(() => opened.close());

  it('MWP-SDV-004a: registering the same principal and key again is no error, anything else under them is', async () => {
    await operator.create();
    const olga = human();
    const first = await operator.register(olga);
    expect(first.status).toBe(201);
    const again = await operator.register(olga);
    expect([again.status, again.json.keys]).toEqual([201, first.json.keys]);
    expect((await operator.logIn(olga)).status).toBe(200);
    const reason = async (answer: Promise<Answer>) => errorIn(await answer).details?.['reason'];
    const eve = human('eve');
    const other = human();
    expect(await reason(operator.register({ ...other, keyId: olga.keyId }))).toBe('key_id_bound');
    expect(await reason(operator.register({ ...eve, keyId: olga.keyId, publicKey: olga.publicKey }))).toBe(
      'key_id_bound',
    );
    expect(await reason(operator.register({ ...eve, publicKey: olga.publicKey }))).toBe('public_key_bound');
    expect(await reason(operator.call('POST', '/organizations/acme/keys', keyOf(eve)))).toBe('principal_unknown');
    expect((await operator.call('POST', '/organizations/acme/keys', keyOf(other))).status).toBe(201);
    const principals = await operator.call('GET', '/organizations/acme/principals?limit=200');
    expect(principals.json.items.map((row) => (row['principal'] as { id: string }).id)).toContain(olga.principal.id);
    expect(principals.text).not.toContain(eve.principal.id);
  });

  it('MWP-SDV-004a: many who register the same at once are all told that it is registered', async () => {
    await operator.create();
    const olga = human();
    const answers = await Promise.all(Array.from({ length: 16 }, () => operator.register(olga)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 201));
    expect(new Set(answers.map(({ json }) => JSON.stringify(json.keys))).size).toBe(1);
    const second = { ...human(), principal: olga.principal };
    const adding = Array.from({ length: 16 }, () => operator.call('POST', '/organizations/acme/keys', keyOf(second)));
    for (const { status } of await Promise.all(adding)) expect(status).toBe(201);
  });

  it('MWP-SDV-005a, MWP-SDV-005b: a public key that is no strict point is refused before anything is stored', async () => {
    await operator.create();
    const olga = human();
    const points = {
      'not-canonical-base64url': `${olga.publicKey.slice(0, -1)}B`,
      'not-32-bytes': 'AAAA',
      'identity-point': Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString('base64url'),
      'not-in-prime-order-subgroup': Buffer.alloc(32).toString('base64url'),
      'not-a-canonical-point': Buffer.alloc(32, 0xff).toString('base64url'),
    };
    for (const [fault, publicKey] of Object.entries(points)) {
      const answer = await operator.register({ ...olga, publicKey });
      expect([refusalIn(answer), errorIn(answer).message]).toEqual([
        '422 INVALID_COMMAND',
        expect.stringContaining(fault),
      ]);
    }
    expect((await operator.register(olga)).status).toBe(201);
  });

  it('MWP-SDV-012b: a key is ended once and for all, earlier if need be, never later; then nobody logs in with it', async () => {
    await operator.create();
    const olga = human();
    await operator.register(olga);
    const token = (await operator.logIn(olga)).json.token;
    const me = () => ask(operator.app, 'GET', '/v1/orgs/acme/me', undefined, token);
    expect((await me()).status).toBe(200);
    const end = (body: object, keyId = olga.keyId) =>
      operator.call('POST', `/organizations/acme/keys/${path(keyId)}/end`, body);
    expect((await end({ validUntil: '2999-01-01T00:00:00Z' })).status).toBe(200);
    expect(refusalIn(await end({ validUntil: '2999-01-02T00:00:00Z' }))).toBe('409 INVALID_STATE_TRANSITION');
    expect((await me()).status).toBe(200);
    const revokedAt = new Date().toISOString();
    expect((await end({ revokedAt })).json).toMatchObject({ keyId: olga.keyId, revokedAt });
    expect((await me()).status).toBe(401); // this process knows at once
    expect(refusalIn(await operator.logIn(olga))).toBe('403 AUTH_INVALID_SIGNATURE');
    expect(refusalIn(await end({}))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await end({ revokedAt: 'yesterday' }))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await end({ revokedAt }, 'urn:test:key:none'))).toBe('404 INVALID_COMMAND');
    expect(refusalIn(await end({ revokedAt }, 'no uri'))).toBe('404 INVALID_COMMAND');
  });

  it("the Organization's own keys are not ended here, or nothing could be accepted any more", async () => {
    const { json } = await operator.create();
    for (const { keyId } of json.keys) {
      const answer = await operator.call('POST', `/organizations/acme/keys/${path(keyId)}/end`, {
        revokedAt: new Date().toISOString(),
      });
      expect(refusalIn(answer)).toBe('422 INVALID_COMMAND');
    }
  });

  it('MWP-IDN-001a: an Agent Card is signed by the registrar, its agent and keys come along, and a session opens', async () => {
    const { json } = await operator.create();
    const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    const registered = await operator.call('POST', '/organizations/acme/agents', { card: agentCard(ada) });
    expect(registered.status).toBe(201);
    const { agentCard: card } = registered.json;
    expect(checkDocument('agent-card', card)).toMatchObject({ valid: true });
    expect(card.organizationId).toBe(json.organizationId);
    const read = readDocument('agent-card', { bytes: canonicalBytes(card) });
    if (!read.ok) throw new Error('unreadable');
    const evidence = new StoreEvidence(opened.store.organizations);
    const verified = await verifyRead('agent-card', read.document, json.organizationId, evidence);
    expect(verified).toMatchObject({
      ok: true,
      principal: { type: 'service', id: `${json.organizationId}:service:registrar` },
    });
    expect((await operator.logIn(ada, true)).json.sessionEpoch).toBe(1);
    const second = await operator.call('POST', '/organizations/acme/agents', {
      card: agentCard(ada, { cardVersion: 2 }),
    });
    expect(second.status).toBe(201);
    expect(refusalIn(await operator.call('POST', '/organizations/acme/agents', { card: agentCard(ada) }))).toBe(
      '409 REVISION_CONFLICT',
    );
  });

  it('a Card that is registered again because the answer was lost gets the first answer; another one does not', async () => {
    await operator.create();
    const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    const submit = (more: object = {}) =>
      operator.call('POST', '/organizations/acme/agents', { card: agentCard(ada, more) });
    const first = await submit();
    const again = await submit();
    expect([again.status, again.json]).toEqual([201, first.json]);
    const dated = await submit({ issuedAt: first.json.agentCard.issuedAt });
    expect([dated.status, dated.json]).toEqual([201, first.json]);
    expect(refusalIn(await submit({ displayName: 'Another' }))).toBe('409 REVISION_CONFLICT');
    expect(refusalIn(await submit({ issuedAt: new Date().toISOString() }))).toBe('409 REVISION_CONFLICT');
  });

  it('MWP-IDN-001b: a Card that lacks a part, is signed already or names another Organization is refused', async () => {
    await operator.create();
    const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    const whole = agentCard(ada) as Record<string, unknown>;
    const submit = (card: object) => operator.call('POST', '/organizations/acme/agents', { card }).then(refusalIn);
    for (const member of ['publicKeys', 'capabilities', 'maxConcurrency', 'owner', 'endpoints']) {
      const { [member]: _left, ...rest } = whole;
      expect(await submit(rest)).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    expect(await submit({ ...whole, permissions: [] })).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(await submit({ ...whole, signature: {} })).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(await submit({ ...whole, issuedAt: '2026-01-01T00:00:00+00:00' })).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(await submit({ ...whole, organizationId: 'urn:test:other' })).toBe('422 INVALID_COMMAND');
    expect(refusalIn(await operator.call('POST', '/organizations/acme/agents', {}))).toBe(
      '400 SCHEMA_VALIDATION_FAILED',
    );
    expect(refusalIn(await operator.call('POST', '/organizations/nowhere/agents', { card: whole }))).toBe(
      '404 INVALID_COMMAND',
    );
  });
});

function keyOf({ principal, keyId, publicKey }: ActorKey) {
  return { principal, keyId, publicKey };
}
