// Who reads the protected audit record, and who does not: auditors named by the policy, and nobody else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/domain/policy.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, refusalIn } from './api.ts';
import { agentCard } from './cards.ts';

const OPERATOR = 'the-operator-token-of-these-tests';

describe.each(STORES)('$name: reading the audit', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let iris: ActorKey;
  let owner: ActorKey;
  let coordinator: ActorKey;
  let mission: Mission;
  let elsewhere: Mission;

  beforeAll(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    api = new Api(tenant, { operatorToken: OPERATOR });
    iris = await tenant.human('iris');
    owner = await tenant.human('olga');
    coordinator = await tenant.agent('coordinator');
    mission = await Mission.create(tenant, owner, coordinator);
    elsewhere = await Mission.create(tenant, owner, coordinator);
    await appoint([iris.principal]);
    for (const of of [mission, elsewhere, mission]) {
      expect(await of.outcome(coordinator, 'mission.cancel', { reason: 'x' })).toBe('AUTH_FORBIDDEN');
    }
    const text = Buffer.from(
      tenant.sign(owner, mission.draft('mission.cancel', { reason: 'x' }), mission.epochsOf(owner)),
    );
    expect(refusalIn(await api.submit(owner, Buffer.from(text.toString().replace('"x"', '"y"'))))).toBe(
      '403 AUTH_INVALID_SIGNATURE',
    );
  });
  afterAll(() => opened.close());

  async function appoint(auditors: Principal[]): Promise<void> {
    const path = `/v1/operator/organizations/${tenant.organization.slug}/policy`;
    const policy = (await api.ask('GET', path, { token: OPERATOR })).json as unknown as Policy;
    const answer = await api.ask('PUT', path, { token: OPERATOR, body: { ...policy, auditors } });
    expect([answer.status, (answer.json as unknown as Policy).auditors]).toEqual([200, auditors]);
  }

  it('MWP-SDV-018c: an auditor reads stage and reason, page by page', async () => {
    const items = await api.all(iris, '/audit', 1);
    expect(items.map(({ stage, code }) => [stage, code])).toEqual([
      ...Array.from({ length: 3 }, () => ['domain', 'AUTH_FORBIDDEN']),
      ['signature', 'AUTH_INVALID_SIGNATURE'],
    ]);
    expect(items[3]).toMatchObject({
      reason: 'equation-fails',
      actor: owner.principal,
      caller: owner.principal,
      keyId: owner.keyId,
      groupId: mission.groupId,
    });
    expect((await api.get(iris, '/audit?after=4')).json).toEqual({ items: [] });
    for (const query of ['limit=0', 'limit=201', 'after=-1', 'groupId=no%20uri', 'groupId=']) {
      expect([query, refusalIn(await api.get(iris, `/audit?${query}`))]).toEqual([
        query,
        '400 SCHEMA_VALIDATION_FAILED',
      ]);
    }
  });

  it('MWP-SDV-018d: what was refused in a Group is found from its id, without a Membership there', async () => {
    const ids = async (groupId: string, more = '') => {
      const { json } = await api.get(iris, `/audit?groupId=${encodeURIComponent(groupId)}${more}`);
      return [...json.items.map(({ id }) => id), json.next];
    };
    expect(await ids(mission.groupId)).toEqual([1, 3, 4, undefined]);
    expect(await ids(mission.groupId, '&limit=2')).toEqual([1, 3, '3']);
    expect(await ids(mission.groupId, '&after=3')).toEqual([4, undefined]);
    expect(await ids(elsewhere.groupId)).toEqual([2, undefined]);
    expect(await ids('urn:test:group:none')).toEqual([undefined]);
    expect(refusalIn(await api.get(iris, `/groups/${encodeURIComponent(mission.groupId)}`))).toBe(
      '404 GROUP_NOT_FOUND',
    );
  });

  it('MWP-SDV-018c: every other role is refused, in one answer for all Groups and all queries', async () => {
    const { identity, registrar, authority } = tenant.organization;
    const otto = await tenant.human('otto');
    const services = [identity, registrar, authority].map((service) => tenant.keyOf(service));
    const queries = ['', '?groupId=no%20uri', '?limit=0', '?after=x'];
    const groups = [mission, elsewhere].map(({ groupId }) => `?groupId=${encodeURIComponent(groupId)}`);
    for (const key of [owner, coordinator, otto, ...services]) {
      const answers = new Set<string>();
      for (const query of [...queries, ...groups, '?groupId=urn:test:none']) {
        const { status, text } = await api.get(key, `/audit${query}`);
        answers.add(`${status} ${text.replace(/"occurredAt":"[^"]*"/, '')}`);
      }
      expect([key.principal.id, [...answers]]).toEqual([
        key.principal.id,
        [expect.stringMatching(/^403 .*AUTH_FORBIDDEN/)],
      ]);
    }
    expect((await api.org('GET', '/audit')).status).toBe(401);
    expect((await api.org('GET', '/audit', { token: OPERATOR })).status).toBe(401);
  });

  it('an auditor of one Organization is nobody in another, though ids are the same', async () => {
    const other = await Tenant.create(opened.store, { scope: iris.principal.id.replace(/:human:iris$/, '') });
    const theirs = new Api(other, { vault: api.vault });
    const same = await other.human('iris');
    expect(same.principal).toEqual(iris.principal);
    expect(refusalIn(await theirs.get(same, '/audit'))).toBe('403 AUTH_FORBIDDEN');
  });

  it('who is an auditor changes with the policy, at once; an Agent cannot be one, a service can', async () => {
    const path = `/v1/operator/organizations/${tenant.organization.slug}/policy`;
    const policy = (await api.ask('GET', path, { token: OPERATOR })).json;
    for (const body of [
      { ...policy, auditors: [coordinator.principal] },
      { ...policy, auditors: ['urn:test:human'] },
      { ...policy, auditRetentionDays: 0 },
      { ...policy, auditRetentionDays: 3_661 },
      { ...policy, legalHolds: ['no uri'] },
      { ...policy, legalHolds: '*' },
    ]) {
      expect(refusalIn(await api.ask('PUT', path, { token: OPERATOR, body }))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    const scanner = generateActorKey({ type: 'service', id: 'urn:test:service:scanner' });
    const { keyId, publicKey, principal } = scanner;
    const registered = await api.ask('POST', path.replace('/policy', '/principals'), {
      token: OPERATOR,
      body: { principal, displayName: 'Scanner', keys: [{ keyId, publicKey }] },
    });
    expect(registered.status).toBe(201);
    await appoint([principal]);
    expect((await api.get(scanner, '/audit')).status).toBe(200);
    expect(refusalIn(await api.get(iris, '/audit'))).toBe('403 AUTH_FORBIDDEN');
    const {
      auditors: _none,
      auditRetentionDays: _default,
      legalHolds: _noneHeld,
      ...older
    } = (await api.ask('GET', path, { token: OPERATOR })).json as unknown as Policy;
    const answer = await api.ask('PUT', path, { token: OPERATOR, body: older });
    expect(answer.json).toMatchObject({ auditors: [], auditRetentionDays: 400, legalHolds: [] });
    await appoint([iris.principal]);
  });

  it('a Card that the operator registers leaves a record when it is refused', async () => {
    const path = `/v1/operator/organizations/${tenant.organization.slug}/agents`;
    const put = (more: object) =>
      api.ask('POST', path, { token: OPERATOR, body: { card: { ...agentCard(ada), ...more } } });
    const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    const before = (await api.all(iris, '/audit')).length;
    expect((await put({ cardVersion: 2 })).status).toBe(201);
    expect(refusalIn(await put({ cardVersion: 1 }))).toBe('409 REVISION_CONFLICT');
    const left = (await api.all(iris, '/audit')).slice(before);
    const { registrar } = tenant.organization;
    expect(left).toMatchObject([{ stage: 'domain', code: 'REVISION_CONFLICT', actor: registrar, caller: registrar }]);
  });

  it('it is no route of the operator', async () => {
    const path = `/v1/operator/organizations/${tenant.organization.slug}/audit`;
    expect(refusalIn(await api.ask('GET', path, { token: OPERATOR }))).toBe('404 PROTOCOL_VIOLATION');
  });
});
