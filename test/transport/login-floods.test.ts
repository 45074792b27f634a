// Floods of what needs no token: bad logins in anybody's name, guesses of the operator's token.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOGIN_FAILURES } from '../../src/http/limits/login-failures.ts';
import { OPERATOR_GUESSES } from '../../src/http/operator/guard.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { lookBehind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, errorIn, refusalIn, type LoginBody } from './api.ts';

const LIMITED = '429 RATE_LIMITED';
const REFUSED = '403 AUTH_INVALID_SIGNATURE';
const OPERATOR = 'an-operator-token-for-the-limits';
const spoilt = (body: LoginBody) => ({ ...body, challengeSignature: encodeBase64url(Buffer.alloc(64, 1)) });

describe.each(STORES)('$name: floods without a token', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let now: number;

  beforeEach(async () => {
    now = 1_000_000;
    opened = await open();
    tenant = await Tenant.create(opened.store);
    api = new Api(tenant, { monotonic: () => now, operatorToken: OPERATOR });
    olga = await tenant.human('olga');
  });
  afterEach(() => opened.close());

  const flood = async (slug: string) => {
    const body = { principal: olga.principal, challenge: 'AAAA', challengeSignature: 'AAAA' };
    const attempts = Array.from({ length: LOGIN_FAILURES.burst }, () =>
      api.ask('POST', `/v1/orgs/${slug}/auth/token`, { body }),
    );
    return (await Promise.all(attempts)).map(refusalIn);
  };

  it('who holds the key gets in while strangers fail in her name without end, and they are limited', async () => {
    expect(new Set(await flood(tenant.organization.slug))).toEqual(new Set([REFUSED]));
    const limited = await api.logIn(olga, false, spoilt);
    expect(refusalIn(limited)).toBe(LIMITED);
    expect(errorIn(limited).retryAfterMs).toBe(1_000 / LOGIN_FAILURES.perSecond);
    expect((await api.logIn(olga)).status).toBe(200);
    expect((await api.logIn(olga)).status).toBe(200);
    expect(refusalIn(await api.logIn(olga, false, spoilt))).toBe(LIMITED);
    now += 1_000 / LOGIN_FAILURES.perSecond;
    expect(refusalIn(await api.logIn(olga, false, spoilt))).toBe(REFUSED);
  });

  it('a bad login beyond the limit writes nothing', async () => {
    await flood(tenant.organization.slug);
    const behind = lookBehind(opened);
    const before = await behind.rowCounts();
    expect(refusalIn(await api.logIn(olga, false, spoilt))).toBe(LIMITED);
    expect(await behind.rowCounts()).toEqual(before);
    expect((await api.logIn(olga)).status).toBe(200);
    expect((await behind.rowCounts())['challenges']).toBe((before['challenges'] ?? 0) + 1);
    await behind.close();
  });

  it('an Organization that does not exist is limited alike, and one flood touches no other Organization', async () => {
    await flood('nowhere');
    const body = { principal: olga.principal, challenge: 'AAAA', challengeSignature: 'AAAA' };
    const nowhere = await api.ask('POST', '/v1/orgs/nowhere/auth/token', { body });
    expect(refusalIn(nowhere)).toBe(LIMITED);
    expect(refusalIn(await api.ask('POST', '/v1/orgs/elsewhere/auth/token', { body }))).toBe(REFUSED);
    expect(new Set(await flood(tenant.organization.slug))).toEqual(new Set([REFUSED]));
    const known = await api.org('POST', '/auth/token', { body });
    const timeless = ({ text }: typeof known) => text.replace(/"occurredAt":"[^"]*"/, '');
    expect(timeless(known)).toBe(timeless(nowhere));
  });

  it('many challenges at once cost the database few looks at its clock', async () => {
    const { principal, keyId } = olga;
    const looks = { count: 0 };
    const { organizations } = opened.store;
    const counting = {
      ...opened.store,
      read: opened.store.read.bind(opened.store),
      organizations: {
        ...organizations,
        now: () => {
          looks.count += 1;
          return organizations.now();
        },
        bySlug: () => Promise.reject(new Error('looked up')),
      },
    };
    const flooded = new Api(tenant, { store: counting });
    const body = { principal, keyId, clientNonce: 'abcd' };
    const asked = Array.from({ length: 200 }, () => flooded.org('POST', '/auth/challenge', { body }));
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(new Set(answers.map(({ json }) => json.serverNonce)).size).toBe(200);
    expect(looks.count).toBeLessThan(20);
  });

  it('guesses of the operator token are limited, and the operator is not', async () => {
    const list = (token: string) => api.ask('GET', '/v1/operator/organizations', { token });
    const guess = async () => refusalIn(await list('a-guess-of-the-token-of-the-operator'));
    for (let at = 0; at < OPERATOR_GUESSES.burst; at += 1) expect(await guess()).toBe('401 AUTH_REQUIRED');
    expect(await guess()).toBe(LIMITED);
    expect(errorIn(await list('another')).retryAfterMs).toBe(1_000 / OPERATOR_GUESSES.perSecond);
    expect((await list(OPERATOR)).status).toBe(200);
    now += 1_000 / OPERATOR_GUESSES.perSecond;
    expect(await guess()).toBe('401 AUTH_REQUIRED');
  });
});
