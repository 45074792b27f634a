// Nothing says whether another tenant's Organization or a Group that is none of the caller's business exists.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FAILURE_FLOOR_MILLISECONDS } from '../../src/http/auth/login.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, errorIn, path, refusalIn, type Answer } from './api.ts';

const timeless = ({ text }: Answer) => text.replace(/"occurredAt":"[^"]*"/, '');
// Every request has a name of its own.
const OWN = ['date', 'x-request-id'];
const headersOf = ({ headers }: Answer) => [...headers].filter(([name]) => !OWN.includes(name));

describe.each(STORES)('$name: what stays hidden', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let eve: ActorKey;
  let mission: Mission;

  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    api = new Api(tenant);
    olga = await tenant.human('olga');
    eve = await tenant.human('eve');
    mission = await Mission.create(tenant, olga, await tenant.agent('ada'));
  });
  afterEach(() => opened.close());

  it('MWP-EVT-009c: an unknown Organization, a missing token and a bad one get one answer, on every path', async () => {
    const token = await api.tokenOf(olga);
    const known = `/v1/orgs/${tenant.organization.slug}`;
    const answers = [];
    for (const below of ['/me', '/missions', `/groups/${path(mission.groupId)}/events`, '/no/such/path']) {
      answers.push(await api.ask('GET', known + below));
      answers.push(await api.ask('GET', known + below, { token: `${token}x` }));
      answers.push(await api.ask('GET', `/v1/orgs/nowhere${below}`));
      answers.push(await api.ask('GET', `/v1/orgs/nowhere${below}`, { token }));
      answers.push(await api.ask('GET', `/v1/orgs/%00${below}`, { token }));
    }
    answers.push(await api.ask('POST', `${known}/commands`, { body: {} }));
    answers.push(await api.ask('POST', '/v1/orgs/nowhere/commands', { token, body: {} }));
    answers.push(await api.ask('POST', '/v1/orgs/nowhere/auth/refresh', { token }));
    for (const answer of answers) {
      expect(refusalIn(answer)).toBe('401 AUTH_REQUIRED');
      expect(timeless(answer)).toBe(timeless(answers[0] as Answer));
      expect(headersOf(answer)).toEqual(headersOf(answers[0] as Answer));
    }
  });

  it("an unknown Organization's login looks like a known one's until it is refused in the same words and time", async () => {
    const { principal, keyId } = olga;
    const at = async (slug: string) => {
      const body = { principal, keyId, clientNonce: 'abcd' };
      const asked = await api.ask('POST', `/v1/orgs/${slug}/auth/challenge`, { body });
      const { challenge } = asked.json;
      const started = performance.now();
      const answer = await api.ask('POST', `/v1/orgs/${slug}/auth/token`, {
        body: { principal, challenge, challengeSignature: 'AAAA' },
      });
      const milliseconds = performance.now() - started;
      return { asked, answer, milliseconds };
    };
    const known = await at(tenant.organization.slug);
    const unknown = await at('nowhere');
    expect(Object.keys(unknown.asked.json)).toEqual(Object.keys(known.asked.json));
    expect(unknown.asked.text.length).toBe(known.asked.text.length);
    expect(timeless(unknown.answer)).toBe(timeless(known.answer));
    for (const { milliseconds } of [known, unknown]) {
      expect(milliseconds).toBeGreaterThan(FAILURE_FLOOR_MILLISECONDS - 2);
    }
  });

  it('MWP-IDN-007b: an Organization that cannot exist gets challenges, too, whatever stands for its name', async () => {
    const { principal, keyId } = olga;
    for (const slug of ['a'.repeat(1_100), 'b'.repeat(8_000), path('é'.repeat(1_000)), '%00', '%ff', '%ED%A0%80']) {
      const body = { principal, keyId, clientNonce: 'abcd' };
      const asked = await api.ask('POST', `/v1/orgs/${slug}/auth/challenge`, { body });
      expect([asked.status, Object.keys(asked.json)]).toEqual([200, expect.arrayContaining(['challenge'])]);
      const answer = { principal, challenge: asked.json.challenge, challengeSignature: 'AAAA' };
      const refused = await api.ask('POST', `/v1/orgs/${slug}/auth/token`, { body: answer });
      expect(refusalIn(refused)).toBe('403 AUTH_INVALID_SIGNATURE');
    }
  });

  it('MWP-EVT-009c: an absent and a forbidden Group get equal answers on every read', async () => {
    const lists = [
      '',
      '/work-items',
      '/memberships',
      '/conversations',
      '/leases',
      '/budgets',
      '/artifacts',
      '/evidence',
    ];
    lists.push('/approvals', '/proposals', '/policy-log', '/state', '/events', '/events?after=7&limit=3');
    const things = [`/work-items/${path(id())}`, `/events/${path(id())}`, `/conversations/${path(id())}/messages`];
    const absent = [path(id()), 'no-uri', '%00', path('é'.repeat(10)), '%zz'];
    const own = (below: string) => api.get(olga, `/groups/${path(mission.groupId)}${below}`);
    for (const below of lists) expect((await own(below)).status).toBe(200);
    for (const below of things) expect(refusalIn(await own(below))).toBe('404 INVALID_COMMAND');
    for (const below of [...lists, ...things]) {
      const forbidden = await api.get(eve, `/groups/${path(mission.groupId)}${below}`);
      expect(refusalIn(forbidden)).toBe('404 GROUP_NOT_FOUND');
      expect(errorIn(forbidden).groupId).toBeUndefined();
      for (const groupId of absent) {
        expect(timeless(await api.get(eve, `/groups/${groupId}${below}`))).toBe(timeless(forbidden));
      }
    }
    const missions = [mission.missionId, id(), 'no-uri'].map((missionId) =>
      api.get(eve, `/missions/${path(missionId)}`),
    );
    for (const answer of await Promise.all(missions)) expect(refusalIn(answer)).toBe('404 GROUP_NOT_FOUND');
    expect((await api.get(eve, '/missions')).json).toEqual({ items: [] });
  });

  it('a service has no Membership and reads no Group, not even the authority itself', async () => {
    const { authority, identity } = tenant.organization;
    for (const service of [authority, identity]) {
      const key = tenant.keyOf(service);
      expect(refusalIn(await api.get(key, `/groups/${path(mission.groupId)}`))).toBe('404 GROUP_NOT_FOUND');
      expect((await api.get(key, '/missions')).json).toEqual({ items: [] });
    }
  });

  it("one tenant's token, ids and Groups are nothing in another tenant", async () => {
    const other = await Tenant.create(opened.store);
    const theirs = new Api(other, { vault: api.vault });
    const oscar = await other.human('oscar');
    expect(refusalIn(await theirs.org('GET', '/me', { token: await api.tokenOf(olga) }))).toBe('401 AUTH_REQUIRED');
    expect(refusalIn(await theirs.get(oscar, `/groups/${path(mission.groupId)}`))).toBe('404 GROUP_NOT_FOUND');
    const agent = `/agents/${path(mission.coordinator.principal.id)}`;
    expect((await api.get(olga, agent)).status).toBe(200);
    expect(refusalIn(await theirs.get(oscar, agent))).toBe('404 INVALID_COMMAND');
  });

  it('paths that do not exist are 404 to who may ask and say nothing to others', async () => {
    expect(refusalIn(await api.get(olga, '/no/such/path'))).toBe('404 PROTOCOL_VIOLATION');
    expect(refusalIn(await api.org('DELETE', '/me', { token: await api.tokenOf(olga) }))).toBe(
      '405 PROTOCOL_VIOLATION',
    );
    expect(refusalIn(await api.ask('GET', '/'))).toBe('404 PROTOCOL_VIOLATION');
    expect(refusalIn(await api.ask('GET', '/v1/orgs'))).toBe('404 PROTOCOL_VIOLATION');
  });

  it('no answer may be kept by a cache', async () => {
    for (const answer of [await api.get(olga, '/me'), await api.ask('GET', '/v1/orgs/x/me')]) {
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });
});
