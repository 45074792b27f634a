// The operator API: tenants with their own keys, principals, Cards, policy and audit.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuthority } from '../../src/authority/authority.ts';
import { createApp } from '../../src/http/app.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { VaultSigners } from '../../src/platform/tenant-signers.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { Policy } from '../../src/domain/policy.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { readDocument, verifyRead } from '../../src/trust/verify.ts';
import { canonicalBytes } from '../../src/wire/canonical.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { StoreEvidence } from '../../src/authority/registry-evidence.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { agentCard } from './cards.ts';
import { errorIn, path, refusalIn, type Answer, type Body } from './api.ts';
import { answerChallenge } from '../../src/worker/challenge.ts';

const TOKEN = 'an-operator-token-for-tests';
const vault = new KeyVault(randomBytes(32));

function appOver(store: AuthorityStore, operatorToken: string | undefined = TOKEN) {
  const signers = new VaultSigners(store.organizations, vault);
  const authority = createAuthority({ store, signers });
  const logger = createLogger('silent');
  return createApp({ store, authority, signers, vault, logger, ...(operatorToken && { operatorToken }) });
}

async function ask(app: ReturnType<typeof createApp>, method: string, route: string, body?: unknown, token = TOKEN) {
  const response = await app.request(route, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Body } satisfies Answer;
}

describe.each(STORES)('$name: operating', ({ open }) => {
  let opened: OpenedStore;
  let app: ReturnType<typeof createApp>;

  beforeEach(async () => {
    opened = await open();
    app = appOver(opened.store);
  });
  afterEach(() => opened.close());

  const call = (method: string, below: string, body?: unknown) => ask(app, method, `/v1/operator${below}`, body);
  const create = (slug = 'acme', more: object = {}) =>
    call('POST', '/organizations', { slug, displayName: 'Acme Inc.', ...more });
  const register = (key: ActorKey, more: object = {}) =>
    call('POST', '/organizations/acme/principals', {
      principal: key.principal,
      displayName: 'Olga',
      keys: [{ keyId: key.keyId, publicKey: key.publicKey }],
      ...more,
    });
  const human = (name = 'olga') => generateActorKey({ type: 'human', id: `urn:test:human:${name}` });

  async function logIn(key: ActorKey, openSession = false): Promise<Answer> {
    const { principal, keyId } = key;
    const asked = await ask(app, 'POST', '/v1/orgs/acme/auth/challenge', { principal, keyId, clientNonce: 'abcd' });
    const { challenge } = asked.json;
    const challengeSignature = answerChallenge(key, 'abcd', challenge);
    const body = { principal, challenge, challengeSignature, ...(openSession && { openSession }) };
    return ask(app, 'POST', '/v1/orgs/acme/auth/token', body);
  }

  it('without a token configured the operator API is not there; with one, only that token opens it', async () => {
    const closed = appOver(opened.store, '');
    for (const token of [TOKEN, '', 'undefined']) {
      expect(refusalIn(await ask(closed, 'GET', '/v1/operator/organizations', undefined, token))).toBe(
        '404 PROTOCOL_VIOLATION',
      );
    }
    for (const token of ['', `${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase()]) {
      expect(refusalIn(await ask(app, 'GET', '/v1/operator/organizations', undefined, token))).toBe(
        '401 AUTH_REQUIRED',
      );
    }
    expect((await call('GET', '/organizations')).status).toBe(200);
    expect(refusalIn(await call('GET', '/nothing'))).toBe('404 PROTOCOL_VIOLATION');
  });

  it('a new Organization has three services with keys of their own, sealed, and rights for just their work', async () => {
    const { status, json } = await create();
    expect(status).toBe(201);
    expect(json.keys).toHaveLength(3);
    const organizationId = json.organizationId as OrganizationId;
    const sealed = await opened.store.organizations.sealedKeys(organizationId);
    expect(sealed.map(({ keyId }) => keyId).sort()).toEqual(json.keys.map(({ keyId }) => keyId).sort());
    expect(new Set(json.keys.map(({ publicKey }) => publicKey)).size).toBe(3);
    const policy = (await call('GET', '/organizations/acme/policy')).json as unknown as Policy;
    expect(policy.services.map(({ kinds, relay }) => [kinds, relay])).toEqual([
      [['ext.missionweaveprotocol.identity.session_open'], false],
      [['ext.missionweaveprotocol.registry.agent_card_register'], false],
    ]);
  });

  it('slug and Organization id are used once, and a slug has its form', async () => {
    const first = await create('acme', { organizationId: 'https://acme.example/org' });
    expect(first.json.organizationId).toBe('https://acme.example/org');
    for (const [slug, more] of [
      ['acme', {}],
      ['other', { organizationId: 'https://acme.example/org' }],
    ] as const) {
      const answer = await create(slug, more);
      expect(refusalIn(answer)).toBe('409 INVALID_STATE_TRANSITION');
      expect(errorIn(answer).details).toEqual({ reason: 'organization_exists' });
    }
    for (const slug of ['', 'Acme', '-a', 'a-', 'a_b', 'a'.repeat(64), 'ä', '../x']) {
      expect(refusalIn(await create(slug))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    for (const more of [
      { organizationId: 'no uri' },
      { organizationId: 'urn:x?q' },
      { displayName: '' },
      { displayName: 'a\u0000' },
      { x: 1 },
    ]) {
      expect(refusalIn(await create('fresh', more))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    expect((await create('a'.repeat(63))).status).toBe(201);
    const slugs = (answer: Answer) => answer.json.items.map(({ slug }) => slug);
    const page = await call('GET', '/organizations?limit=1');
    expect(slugs(page)).toEqual(['a'.repeat(63)]);
    expect(slugs(await call('GET', `/organizations?after=${page.json.next}`))).toEqual(['acme']);
  });

  it('MWP-SDV-004a: registering the same principal and key again is no error, anything else under them is', async () => {
    await create();
    const olga = human();
    const first = await register(olga);
    expect(first.status).toBe(201);
    const again = await register(olga);
    expect([again.status, again.json.keys]).toEqual([201, first.json.keys]);
    expect((await logIn(olga)).status).toBe(200);
    const reason = async (answer: Promise<Answer>) => errorIn(await answer).details?.['reason'];
    const eve = human('eve');
    const other = human();
    expect(await reason(register({ ...other, keyId: olga.keyId }))).toBe('key_id_bound');
    expect(await reason(register({ ...eve, keyId: olga.keyId, publicKey: olga.publicKey }))).toBe('key_id_bound');
    expect(await reason(register({ ...eve, publicKey: olga.publicKey }))).toBe('public_key_bound');
    expect(await reason(call('POST', '/organizations/acme/keys', keyOf(eve)))).toBe('principal_unknown');
    expect((await call('POST', '/organizations/acme/keys', keyOf(other))).status).toBe(201);
    const principals = await call('GET', '/organizations/acme/principals?limit=200');
    expect(principals.json.items.map((row) => (row['principal'] as { id: string }).id)).toContain(olga.principal.id);
    expect(principals.text).not.toContain(eve.principal.id);
  });

  it('MWP-SDV-005: a public key that is no strict point is refused before anything is stored', async () => {
    await create();
    const olga = human();
    const points = {
      'not-canonical-base64url': `${olga.publicKey.slice(0, -1)}B`,
      'not-32-bytes': 'AAAA',
      'identity-point': Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString('base64url'),
      'not-in-prime-order-subgroup': Buffer.alloc(32).toString('base64url'),
      'not-a-canonical-point': Buffer.alloc(32, 0xff).toString('base64url'),
    };
    for (const [fault, publicKey] of Object.entries(points)) {
      const answer = await register({ ...olga, publicKey });
      expect([refusalIn(answer), errorIn(answer).message]).toEqual([
        '422 INVALID_COMMAND',
        expect.stringContaining(fault),
      ]);
    }
    expect((await register(olga)).status).toBe(201);
  });

  it('MWP-SDV-012: a key is ended once and for all, earlier if need be, never later; then nobody logs in with it', async () => {
    await create();
    const olga = human();
    await register(olga);
    const token = (await logIn(olga)).json.token;
    const me = () => ask(app, 'GET', '/v1/orgs/acme/me', undefined, token);
    expect((await me()).status).toBe(200);
    const end = (body: object, keyId = olga.keyId) => call('POST', `/organizations/acme/keys/${path(keyId)}/end`, body);
    expect((await end({ validUntil: '2999-01-01T00:00:00Z' })).status).toBe(200);
    expect(refusalIn(await end({ validUntil: '2999-01-02T00:00:00Z' }))).toBe('409 INVALID_STATE_TRANSITION');
    expect((await me()).status).toBe(200);
    const revokedAt = new Date().toISOString();
    expect((await end({ revokedAt })).json).toMatchObject({ keyId: olga.keyId, revokedAt });
    expect((await me()).status).toBe(401); // this process knows at once
    expect(refusalIn(await logIn(olga))).toBe('403 AUTH_INVALID_SIGNATURE');
    expect(refusalIn(await end({}))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await end({ revokedAt: 'yesterday' }))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await end({ revokedAt }, 'urn:test:key:none'))).toBe('404 INVALID_COMMAND');
    expect(refusalIn(await end({ revokedAt }, 'no uri'))).toBe('404 INVALID_COMMAND');
  });

  it("the Organization's own keys are not ended here, or nothing could be accepted any more", async () => {
    const { json } = await create();
    for (const { keyId } of json.keys) {
      const answer = await call('POST', `/organizations/acme/keys/${path(keyId)}/end`, {
        revokedAt: new Date().toISOString(),
      });
      expect(refusalIn(answer)).toBe('422 INVALID_COMMAND');
    }
  });

  it('MWP-IDN-001a: an Agent Card is signed by the registrar, its agent and keys come along, and a session opens', async () => {
    const { json } = await create();
    const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    const registered = await call('POST', '/organizations/acme/agents', { card: agentCard(ada) });
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
    expect((await logIn(ada, true)).json.sessionEpoch).toBe(1);
    const second = await call('POST', '/organizations/acme/agents', { card: agentCard(ada, { cardVersion: 2 }) });
    expect(second.status).toBe(201);
    expect(refusalIn(await call('POST', '/organizations/acme/agents', { card: agentCard(ada) }))).toBe(
      '409 REVISION_CONFLICT',
    );
  });

  it('MWP-IDN-001b: a Card that lacks a part, is signed already or names another Organization is refused', async () => {
    await create();
    const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    const whole = agentCard(ada) as Record<string, unknown>;
    const submit = (card: object) => call('POST', '/organizations/acme/agents', { card }).then(refusalIn);
    for (const member of ['publicKeys', 'capabilities', 'maxConcurrency', 'owner', 'endpoints']) {
      const { [member]: _left, ...rest } = whole;
      expect(await submit(rest)).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    expect(await submit({ ...whole, permissions: [] })).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(await submit({ ...whole, signature: {} })).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(await submit({ ...whole, issuedAt: '2026-01-01T00:00:00+00:00' })).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(await submit({ ...whole, organizationId: 'urn:test:other' })).toBe('422 INVALID_COMMAND');
    expect(refusalIn(await call('POST', '/organizations/acme/agents', {}))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await call('POST', '/organizations/nowhere/agents', { card: whole }))).toBe('404 INVALID_COMMAND');
  });

  it('the policy is replaced whole, within its bounds, and only on top of the version that was read', async () => {
    await create();
    const read = async () => (await call('GET', '/organizations/acme/policy')).json as unknown as Policy;
    const put = (policy: unknown) => call('PUT', '/organizations/acme/policy', policy);
    const policy = await read();
    const changed = { ...policy, limits: { ...policy.limits, activeWorkItems: 1 } };
    expect((await put(changed)).json).toEqual({ ...changed, version: 2 });
    expect(await read()).toEqual({ ...changed, version: 2 });
    const stale = await put(changed);
    expect(refusalIn(stale)).toBe('409 REVISION_CONFLICT');
    expect(errorIn(stale)).toMatchObject({ expectedRevision: 1, currentRevision: 2 });
    const current = await read();
    const wrong = [
      { ...current, freshness: { behindSeconds: 0, aheadSeconds: 0 } },
      { ...current, freshness: { behindSeconds: 86_401, aheadSeconds: 0 } },
      { ...current, leases: { ...current.leases, executionMaximum: 1.5 } },
      { ...current, limits: { ...current.limits, messagesPerMinute: 1e9 } },
      { ...current, offerCandidatesMaximum: 101 },
      { ...current, services: [...current.services, ...current.services] },
      { ...current, services: [...current.services, { serviceId: 'urn:x:1', kinds: ['nonsense'], relay: true }] },
      { ...current, more: true },
      { version: 2 },
    ];
    for (const body of wrong) expect(refusalIn(await put(body))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await put({ ...current, services: [] }))).toBe('422 INVALID_COMMAND');
    expect(await read()).toEqual(current);
  });

  it('two operators who replace the same version of a policy do not undo each other', async () => {
    await create();
    const policy = (await call('GET', '/organizations/acme/policy')).json as unknown as Policy;
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, position) =>
        call('PUT', '/organizations/acme/policy', { ...policy, resumeWindowSeconds: 1_000 + position }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expect(refusalIn(answer)).toBe('409 REVISION_CONFLICT');
  });

  it('MWP-SDV-018: the audit tells stage and reason of what the sender was only told in general words', async () => {
    await create();
    const olga = human();
    await register(olga);
    const { token } = (await logIn(olga)).json;
    const eve = human('eve');
    const draft = {
      kind: 'mission.cancel',
      groupId: 'urn:test:group:1',
      payload: {},
      actionId: 'urn:test:action:1',
    } as const;
    const forged = signCommand({ ...olga, signer: eve.signer }, draft, { membershipEpoch: 1 });
    const answer = await ask(app, 'POST', '/v1/orgs/acme/commands', forged.document, token);
    expect(refusalIn(answer)).toBe('403 AUTH_INVALID_SIGNATURE');
    const { items } = (await call('GET', '/organizations/acme/audit')).json;
    expect(items[0]).toMatchObject({
      code: 'AUTH_INVALID_SIGNATURE',
      actionId: 'urn:test:action:1',
      actor: olga.principal,
    });
    expect(['key-resolution', 'signature']).toContain(items[0]?.['stage']);
    expect(answer.text).not.toContain(String(items[0]?.['reason']));
    expect(refusalIn(await call('GET', '/organizations/nowhere/audit'))).toBe('404 INVALID_COMMAND');
    expect(refusalIn(await call('GET', '/organizations/acme/audit?limit=0'))).toBe('400 SCHEMA_VALIDATION_FAILED');
  });
});

function keyOf({ principal, keyId, publicKey }: ActorKey) {
  return { principal, keyId, publicKey };
}
