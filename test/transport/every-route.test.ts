// Every route that the app has, whatever is added to it: who has no live token of the Organization learns nothing, and
// what another Organization has is what does not exist (design section 6).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TOKEN_SECONDS } from '../../src/http/auth/tokens.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id } from '../support/mission.ts';
import { Api, putContent, refusalIn, type Answer, type Asked } from './api.ts';
import { playMission, type PlayedMission } from './played-mission.ts';
import { Tenant } from '../support/tenant.ts';

const OPERATOR = 'an-operator-token-for-every-route';
/** Of the tenant API, without what needs no token: the login itself. */
const OPEN = ['/v1/orgs/:slug/auth/challenge', '/v1/orgs/:slug/auth/token'];
const TENANT = '/v1/orgs/:slug/';

interface Route {
  method: string;
  path: string;
}

const timeless = ({ status, text, headers }: Answer) => ({
  status,
  text: text.replace(/"occurredAt":"[^"]*"/, ''),
  // Every request has a name of its own.
  headers: [...headers].filter(([name]) => name !== 'x-request-id').sort(),
});

describe.each(STORES)('$name: every route', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedMission;
  let other: Tenant;
  let oscar: ActorKey;
  let theirs: Api;

  beforeEach(async () => {
    opened = await open();
    played = await playMission(opened.store);
    other = await Tenant.create(opened.store);
    oscar = await other.human('oscar');
    theirs = new Api(other, { vault: played.api.vault, blobs: played.api.blobs });
  });
  afterEach(() => opened.close());

  function routesBelow(prefix: string): Route[] {
    const { routes } = played.api.app;
    const found = routes.filter(({ method, path }) => method !== 'ALL' && path.startsWith(prefix));
    const distinct = new Map(found.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
    expect(distinct.size).toBeGreaterThanOrEqual(10);
    return [...distinct.values()];
  }

  /** The path of a route in an Organization, every id in it the given one. */
  const fill = (path: string, slug: string, value: string) =>
    path.replace(':slug', slug).replace(/:\w+/g, encodeURIComponent(value));

  /** Of the type that the route takes. */
  const bodyFor = (method: string, path: string): Asked => {
    if (method === 'GET') return {};
    const isContent = path.endsWith('/:contentHash');
    return isContent ? { bytes: new Uint8Array(9), contentType: 'application/octet-stream' } : { body: {} };
  };

  /** What `:groupId` and the others may stand for: something of each kind that exists. */
  async function existing(): Promise<string[]> {
    const { mission, items, ada, list } = played;
    const [event] = await list('events');
    const [conversation] = await list('conversations');
    const ids = [mission.groupId, mission.missionId, items.active, ada.principal.id, await putContent(played.api, ada)];
    return [...ids, String(event?.['eventId']), conversation?.conversation.conversationId as string];
  }

  it('MWP-EVT-009c: without a live token of the Organization, all routes of all Organizations give one answer', async () => {
    const { api, tenant, olga, ada, mission } = played;
    const { slug } = tenant.organization;
    const content = await putContent(api, ada);
    const token = await api.tokenOf(olga);
    const foreign = await theirs.tokenOf(oscar);
    const late = new Api(tenant, { vault: api.vault, clock: () => Date.now() + (TOKEN_SECONDS + 1) * 1_000 });
    const callers: [string, Api, string, Asked][] = [
      ['no token', api, slug, {}],
      ['no bearer', api, slug, { headers: { authorization: 'Basic YTpi' } }],
      ['a spoilt token', api, slug, { token: `${token.slice(0, -2)}AA` }],
      ['no token at all', api, slug, { token: 'x' }],
      ["another Organization's token", api, slug, { token: foreign }],
      ['an expired token', late, slug, { token }],
      ['an unknown Organization', api, 'nowhere', {}],
      ['an unknown Organization, with a token', api, 'nowhere', { token }],
      ['the operator’s token', api, slug, { token: OPERATOR }],
    ];
    const expected = timeless(await api.ask('GET', `/v1/orgs/${slug}/me`));
    expect(expected.status).toBe(401);
    for (const { method, path } of routesBelow(TENANT)) {
      if (OPEN.includes(path)) continue;
      for (const [who, through, at, asked] of callers) {
        for (const value of [mission.groupId, id(), 'no-uri', content]) {
          const answer = await through.ask(method, fill(path, at, value), { ...asked, ...bodyFor(method, path) });
          expect([who, method, path, timeless(answer)]).toEqual([who, method, path, expected]);
        }
      }
    }
  });

  it('what another Organization has is, on every route, what nobody has', async () => {
    const { slug } = other.organization;
    const values = await existing();
    const absent = id();
    for (const { method, path } of routesBelow(TENANT).filter(({ method }) => method === 'GET')) {
      const token = await theirs.tokenOf(oscar);
      const ask = async (value: string) => timeless(await theirs.ask(method, fill(path, slug, value), { token }));
      const none = await ask(absent);
      for (const value of values) expect([path, await ask(value)]).toEqual([path, none]);
    }
  });

  it("no tenant's token opens a route of the operator, and all are refused alike", async () => {
    const api = new Api(played.tenant, { vault: played.api.vault, operatorToken: OPERATOR });
    const token = await api.tokenOf(played.olga);
    const expected = timeless(await api.ask('GET', '/v1/operator/organizations', { token }));
    expect(expected.status).toBe(401);
    for (const { method, path } of routesBelow('/v1/operator/')) {
      const body = method === 'GET' ? {} : { body: {} };
      const at = fill(path, played.tenant.organization.slug, id());
      const answer = await api.ask(method, at, { token, ...body });
      expect([method, path, timeless(answer)]).toEqual([method, path, expected]);
    }
    expect(refusalIn(await api.ask('GET', '/v1/operator/organizations'))).toBe('401 AUTH_REQUIRED');
  });
});
