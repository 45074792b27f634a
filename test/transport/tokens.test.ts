// Bearer tokens: how long they live, and which are worth nothing (MWP-IDN-007a, -009b).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RECHECK_MILLISECONDS } from '../../src/http/auth/key-watch.ts';
import { Tokens, REFRESH_WINDOW_SECONDS, TOKEN_SECONDS } from '../../src/http/auth/tokens.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, refusalIn } from './api.ts';

const REFUSED = '403 AUTH_INVALID_SIGNATURE';

describe.each(STORES)('$name: tokens', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let now: number;

  beforeEach(async () => {
    now = Date.now();
    opened = await open({ clock: () => now });
    tenant = await Tenant.create(opened.store, { clock: () => now });
    api = new Api(tenant, { clock: () => now });
    olga = await tenant.human('olga');
  });
  afterEach(() => opened.close());

  it('MWP-IDN-009b: a token dies at its end, and can be refreshed for a day after the signature', async () => {
    const { token } = (await api.logIn(olga)).json;
    const me = (bearer: string) => api.org('GET', '/me', { token: bearer }).then(({ status }) => status);
    const started = now;
    const end = Math.floor(started / 1000) * 1000 + TOKEN_SECONDS * 1000;
    now = end - 1;
    expect(await me(token)).toBe(200);
    const refreshed = (await api.org('POST', '/auth/refresh', { token })).json.token;
    now = end;
    expect(await me(token)).toBe(401);
    expect(await me(refreshed)).toBe(200);
    let last = refreshed;
    const refresh = () => api.org('POST', '/auth/refresh', { token: last });
    while (now < started + REFRESH_WINDOW_SECONDS * 1000 - 600_000) {
      now += 600_000;
      const next = await refresh();
      expect(next.status).toBe(200);
      last = next.json.token;
    }
    now += 600_000;
    expect(await me(last)).toBe(200);
    expect(refusalIn(await refresh())).toBe('401 AUTH_REQUIRED');
  });

  it('MWP-IDN-007a: a revoked key logs in no more, and its tokens die with the next look at the Registry', async () => {
    const token = await api.tokenOf(olga);
    const me = () => api.org('GET', '/me', { token }).then(({ status }) => status);
    expect(await me()).toBe(200);
    await tenant.store.organizations.changeRegistry(tenant.organization.organizationId, {
      validity: [{ keyId: olga.keyId, recordedAt: tenant.now(), revokedAt: tenant.now() }],
    });
    expect(refusalIn(await api.logIn(olga))).toBe(REFUSED);
    expect(refusalIn(await api.org('POST', '/auth/refresh', { token }))).toBe('401 AUTH_REQUIRED');
    now += RECHECK_MILLISECONDS;
    expect(await me()).toBe(401);
  });

  it('MWP-IDN-007a: a host clock that is set back makes nobody believe an old look at the Registry', async () => {
    const token = await api.tokenOf(olga);
    const me = () => api.org('GET', '/me', { token }).then(({ status }) => status);
    expect(await me()).toBe(200);
    const revokedAt = new Date(now - 7_200_000).toISOString();
    await tenant.store.organizations.changeRegistry(tenant.organization.organizationId, {
      validity: [{ keyId: olga.keyId, recordedAt: tenant.now(), revokedAt }],
    });
    now -= 3_600_000;
    expect(await me()).toBe(401);
  });

  it('a token that this service did not sign, or signed for another tenant, is worth nothing', async () => {
    const other = await Tenant.create(opened.store, { clock: () => now });
    const { organizationId, slug } = tenant.organization;
    const bearer = { organizationId, slug, principal: olga.principal, keyId: olga.keyId, signedInAt: now };
    const tokens = new Tokens(api.vault);
    const strangers = new Tokens(new KeyVault(Buffer.alloc(32, 8)));
    const { token } = await tokens.issue(bearer, now);
    const [header = '', payload = ''] = token.split('.');
    const none = `${encodeBase64url(Buffer.from('{"alg":"none"}'))}.${payload}.`;
    const bad = [
      (await strangers.issue(bearer, now)).token,
      (await tokens.issue({ ...bearer, organizationId: other.organization.organizationId }, now)).token,
      (await tokens.issue({ ...bearer, slug: other.organization.slug }, now)).token,
      (await tokens.issue(bearer, now - TOKEN_SECONDS * 1000 - 1000)).token,
      (await tokens.issue({ ...bearer, principal: { type: 'human', id: 'urn:test:human:nobody' } }, now)).token,
      none,
      `${header}.${payload}.`,
      `${token}x`,
      `${token}=`,
      withOtherSpareBits(token),
      'nonsense',
      '',
    ];
    for (const text of bad) expect(refusalIn(await api.org('GET', '/me', { token: text }))).toBe('401 AUTH_REQUIRED');
    expect((await api.org('GET', '/me', { token })).status).toBe(200);
  });
});

/** The same bytes in another spelling: 32 of them leave two bits of the last character unused. */
function withOtherSpareBits(token: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + letters[letters.indexOf(token.at(-1) ?? '') ^ 1];
}
