// The operator API: tenants with their own keys, and their policy.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/domain/policy.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { errorIn, refusalIn, type Answer } from './api.ts';
import { appOver, ask, Operator, TOKEN } from './operator-api.ts';

describe.each(STORES)('$name: operating tenants', ({ open }) => {
  let opened: OpenedStore;
  let operator: Operator;

  beforeEach(async () => {
    opened = await open();
    operator = new Operator(opened.store);
  });
  afterEach(() => opened.close());

  it('without a token configured the operator API is not there; with one, only that token opens it', async () => {
    const closed = appOver(opened.store, '');
    for (const token of [TOKEN, '', 'undefined']) {
      expect(refusalIn(await ask(closed, 'GET', '/v1/operator/organizations', undefined, token))).toBe(
        '404 PROTOCOL_VIOLATION',
      );
    }
    for (const token of ['', `${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase()]) {
      expect(refusalIn(await ask(operator.app, 'GET', '/v1/operator/organizations', undefined, token))).toBe(
        '401 AUTH_REQUIRED',
      );
    }
    expect((await operator.call('GET', '/organizations')).status).toBe(200);
    expect(refusalIn(await operator.call('GET', '/nothing'))).toBe('404 PROTOCOL_VIOLATION');
  });

  it('a new Organization has three services with keys of their own, sealed, and rights for just their work', async () => {
    const { status, json } = await operator.create();
    expect(status).toBe(201);
    expect(json.keys).toHaveLength(3);
    const organizationId = json.organizationId as OrganizationId;
    const sealed = await opened.store.organizations.sealedKeys(organizationId);
    expect(sealed.map(({ keyId }) => keyId).sort()).toEqual(json.keys.map(({ keyId }) => keyId).sort());
    expect(new Set(json.keys.map(({ publicKey }) => publicKey)).size).toBe(3);
    const policy = (await operator.call('GET', '/organizations/acme/policy')).json as unknown as Policy;
    expect(policy.services.map(({ kinds, relay }) => [kinds, relay])).toEqual([
      [['ext.missionweaveprotocol.identity.session_open'], false],
      [['ext.missionweaveprotocol.registry.agent_card_register'], false],
    ]);
  });

  it('slug and Organization id are used once, and a slug has its form', async () => {
    const first = await operator.create('acme', { organizationId: 'https://acme.example/org' });
    expect(first.json.organizationId).toBe('https://acme.example/org');
    for (const [slug, more] of [
      ['acme', {}],
      ['other', { organizationId: 'https://acme.example/org' }],
    ] as const) {
      const answer = await operator.create(slug, more);
      expect(refusalIn(answer)).toBe('409 INVALID_STATE_TRANSITION');
      expect(errorIn(answer).details).toEqual({ reason: 'organization_exists' });
    }
    for (const slug of ['', 'Acme', '-a', 'a-', 'a_b', 'a'.repeat(64), 'ä', '../x']) {
      expect(refusalIn(await operator.create(slug))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    for (const more of [
      { organizationId: 'no uri' },
      { organizationId: 'urn:x?q' },
      { displayName: '' },
      { displayName: 'a\u0000' },
      { x: 1 },
    ]) {
      expect(refusalIn(await operator.create('fresh', more))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    expect((await operator.create('a'.repeat(63))).status).toBe(201);
    const slugs = (answer: Answer) => answer.json.items.map(({ slug }) => slug);
    const page = await operator.call('GET', '/organizations?limit=1');
    expect(slugs(page)).toEqual(['a'.repeat(63)]);
    expect(slugs(await operator.call('GET', `/organizations?after=${page.json.next}`))).toEqual(['acme']);
  });

  it('the policy is replaced whole, within its bounds, and only on top of the version that was read', async () => {
    await operator.create();
    const read = async () => (await operator.call('GET', '/organizations/acme/policy')).json as unknown as Policy;
    const put = (policy: unknown) => operator.call('PUT', '/organizations/acme/policy', policy);
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
    await operator.create();
    const policy = (await operator.call('GET', '/organizations/acme/policy')).json as unknown as Policy;
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, position) =>
        operator.call('PUT', '/organizations/acme/policy', { ...policy, resumeWindowSeconds: 1_000 + position }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expect(refusalIn(answer)).toBe('409 REVISION_CONFLICT');
  });
});
