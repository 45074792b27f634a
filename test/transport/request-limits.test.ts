// How often the API may be asked (design section 6): per actor, per Organization, for Commands, reads and logins.
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type Rate, type RequestRates } from '../../src/domain/policy.ts';
import { listen } from '../../src/http/listen.ts';
import { HELD_APART_MILLISECONDS, HELD_MILLISECONDS, HeldAnswers } from '../../src/http/limits/held-answers.ts';
import { limitedBy, UNBELIEVED_COST } from '../../src/http/limits/request-limits.ts';
import { RECHECK_MILLISECONDS } from '../../src/http/limits/tenant-rates.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { lookBehind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { FairQueue } from '../../src/store/fair-queue.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, errorIn, refusalIn } from './api.ts';

const LIMITED = '429 RATE_LIMITED';
const PLENTY: Rate = { perSecond: 10_000, burst: 10_000 };
const unlimited = { organization: PLENTY, actor: PLENTY };
const rates = (more: Partial<RequestRates>): RequestRates => ({
  commands: unlimited,
  reads: unlimited,
  logins: unlimited,
  ...more,
});
/** Two at once, then one in half a second. */
const TWO: Rate = { perSecond: 2, burst: 2 };

describe.each(STORES)('$name: request limits', ({ open }) => {
  let opened: OpenedStore;
  /** Milliseconds of the monotonic clock. */
  let now: number;

  beforeEach(async () => {
    now = 1_000_000;
    opened = await open();
  });
  afterEach(() => opened.close());

  const tenantWith = async (limits: Partial<RequestRates>) => {
    const tenant = await Tenant.create(opened.store, { policy: { rates: rates(limits) } });
    const [olga, eve] = [await tenant.human('olga'), await tenant.human('eve')];
    const api = new Api(tenant, { monotonic: () => now });
    return { tenant, olga, eve, api };
  };

  it('an actor at its limit is told to the millisecond when the next request is taken, and then it is', async () => {
    const { api, olga, eve } = await tenantWith({ reads: { organization: PLENTY, actor: TWO } });
    for (const expected of [200, 200]) expect((await api.get(olga, '/me')).status).toBe(expected);
    const limited = await api.get(olga, '/me');
    expect(refusalIn(limited)).toBe(LIMITED);
    expect(errorIn(limited)).toMatchObject({ retryable: true, retryAfterMs: 500, details: { limit: 'reads' } });
    expect(limited.headers.get('retry-after')).toBe('1');
    expect((await api.get(eve, '/me')).status).toBe(200);
    now += 200;
    expect(errorIn(await api.get(olga, '/me')).retryAfterMs).toBe(300);
    now += 299;
    expect(errorIn(await api.get(olga, '/me')).retryAfterMs).toBe(1);
    now += 1;
    expect((await api.get(olga, '/me')).status).toBe(200);
    expect(refusalIn(await api.get(olga, '/me'))).toBe(LIMITED);
  });

  it('whoever is over a limit is told a little later, and need not wait for that time again', async () => {
    const tenant = await Tenant.create(opened.store, {
      policy: { rates: rates({ reads: { organization: PLENTY, actor: TWO } }) },
    });
    const olga = await tenant.human('olga');
    const api = new Api(tenant);
    await Promise.all([api.get(olga, '/me'), api.get(olga, '/me')]);
    const begun = performance.now();
    const limited = await Promise.all(Array.from({ length: 10 }, () => api.get(olga, '/me')));
    const waited = performance.now() - begun;
    expect(limited.map(refusalIn)).toEqual(limited.map(() => LIMITED));
    expect(waited).toBeGreaterThan(HELD_MILLISECONDS - 5);
    // A token comes every 500 ms, counted from the moment of asking.
    for (const answer of limited) expect(errorIn(answer).retryAfterMs).toBeLessThanOrEqual(500 - HELD_MILLISECONDS);
    await delay(500 - HELD_MILLISECONDS + 5);
    expect((await api.get(olga, '/me')).status).toBe(200);
  });

  it('those of one asker go out one after the other, however they came, and nobody else waits for them', async () => {
    const held = new HeldAnswers(20);
    const order: string[] = [];
    const hold = async (asker: string) => {
      const holding = held.hold(limitedBy('reads', 1_000), asker);
      const asked = performance.now();
      const { retryAfterMs } = await holding;
      order.push(asker);
      const waited = 1_000 - (retryAfterMs ?? 0);
      return { waited, due: asked + waited };
    };
    const begun = performance.now();
    const many = Array.from({ length: 50 }, () => hold('many'));
    const one = hold('one');
    const dues = (await Promise.all(many)).map(({ due }) => due);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(20 + 49 * HELD_APART_MILLISECONDS - 1);
    for (const [at, due] of dues.entries())
      expect(due).toBeGreaterThanOrEqual(begun + 20 + at * HELD_APART_MILLISECONDS);
    expect((await one).waited).toBeLessThanOrEqual(21);
    expect(order.indexOf('one')).toBeLessThan(order.length / 2);
  });

  it('so many answers are held and no more; the others go out at once', async () => {
    const held = new HeldAnswers(60_000, 1);
    void held.hold(limitedBy('reads', 100), 'a');
    const refusal = limitedBy('reads', 70_000);
    expect(await held.hold(refusal, 'b')).toBe(refusal);
  });

  it("all actors of an Organization together stay within its own limit, and another Organization's is its own", async () => {
    const { api, olga, eve } = await tenantWith({ reads: { organization: TWO, actor: PLENTY } });
    const other = await tenantWith({ reads: { organization: TWO, actor: PLENTY } });
    expect((await api.get(olga, '/me')).status).toBe(200);
    expect((await api.get(eve, '/me')).status).toBe(200);
    expect(refusalIn(await api.get(olga, '/me'))).toBe(LIMITED);
    expect(refusalIn(await api.get(eve, '/no/such/path'))).toBe(LIMITED);
    expect((await other.api.get(other.olga, '/me')).status).toBe(200);
  });

  it('reads, Commands and logins are counted apart', async () => {
    const one = { organization: PLENTY, actor: { perSecond: 1, burst: 1 } };
    const { api, olga } = await tenantWith({ reads: one, commands: one, logins: one });
    const token = await api.tokenOf(olga); // the one login
    expect((await api.get(olga, '/me')).status).toBe(200);
    expect(refusalIn(await api.org('POST', '/commands', { token, body: {} }))).toBe('400 SCHEMA_VALIDATION_FAILED');
    expect(refusalIn(await api.get(olga, '/me'))).toBe(LIMITED);
    expect(refusalIn(await api.org('POST', '/commands', { token, body: {} }))).toBe(LIMITED);
    expect(refusalIn(await api.logIn(olga))).toBe(LIMITED);
    expect(refusalIn(await api.org('POST', '/auth/refresh', { token }))).toBe(LIMITED);
  });

  it('a limited Command is not looked at: no audit record, and accepted when it is sent again', async () => {
    const { api, tenant, olga } = await tenantWith({ commands: { organization: PLENTY, actor: TWO } });
    const mission = Mission.draft(tenant, olga, await tenant.agent('ada'));
    const bytes = tenant.sign(olga, mission.creation());
    const token = await api.tokenOf(olga);
    for (let time = 0; time < 2; time += 1) await api.org('POST', '/commands', { token, body: {} });
    const audited = async () =>
      (await opened.store.read(tenant.organization.organizationId, (reader) => reader.audit(0, 100))).length;
    const before = await audited();
    expect(refusalIn(await api.submit(olga, bytes))).toBe(LIMITED);
    expect(await audited()).toBe(before);
    now += 500;
    expect((await api.submit(olga, bytes)).status).toBe(200);
  });

  it(`a Command whose signature is not believed costs its bearer ${UNBELIEVED_COST}, and nobody else`, async () => {
    const rate = { perSecond: 1, burst: UNBELIEVED_COST + 1 };
    const { api, tenant, olga, eve } = await tenantWith({ commands: { organization: PLENTY, actor: rate } });
    const ada = await tenant.agent('ada');
    const mission = Mission.draft(tenant, olga, ada);
    // Signed by another key than the one that it names, and handed in by Olga.
    const forged = tenant.sign({ ...olga, signer: eve.signer }, mission.creation());
    expect(refusalIn(await api.submit(olga, forged))).toBe('403 AUTH_INVALID_SIGNATURE');
    expect((await api.submit(olga, tenant.sign(olga, mission.creation()))).status).toBe(200);
    const limited = await api.submit(olga, forged);
    expect(refusalIn(limited)).toBe(LIMITED);
    expect(errorIn(limited).retryAfterMs).toBe(1_000);
    expect((await api.submit(eve, tenant.sign(eve, Mission.draft(tenant, eve, ada).creation()))).status).toBe(200);
  });

  it('bad signatures that were let in together leave a debt, and the last of them are not looked at any more', async () => {
    const burst = 2 * UNBELIEVED_COST;
    const { tenant, olga, eve } = await tenantWith({
      commands: { organization: PLENTY, actor: { perSecond: 1, burst } },
    });
    const api = new Api(tenant, { monotonic: () => now, turns: new FairQueue({ capacity: 1 }) });
    const mission = Mission.draft(tenant, olga, await tenant.agent('ada'));
    const forged = tenant.sign({ ...olga, signer: eve.signer }, mission.creation());
    await api.tokenOf(olga);
    const answers = await Promise.all(Array.from({ length: burst }, () => api.submit(olga, forged)));
    const codes = answers.map((answer) => errorIn(answer).code);
    // Each has paid at the door, so the first one already leaves a debt.
    expect(codes.toSorted()).toEqual([
      'AUTH_INVALID_SIGNATURE',
      ...Array.from({ length: burst - 1 }, () => 'RATE_LIMITED'),
    ]);
    // However deep: what it holds at most, and one.
    expect(errorIn(await api.submit(olga, forged)).retryAfterMs).toBeLessThanOrEqual((burst + 1) * 1_000);
  });

  it('the operator changes the limits: at once in this process, within seconds in others', async () => {
    const { api, tenant, olga } = await tenantWith({ reads: { organization: PLENTY, actor: TWO } });
    const elsewhere = new Api(tenant, { monotonic: () => now, vault: api.vault });
    const ask = async (of: Api) => (await of.get(olga, '/me')).status;
    const drain = async (of: Api) => {
      while ((await ask(of)) === 200);
    };
    await drain(api);
    await drain(elsewhere);
    const below = `/v1/operator/organizations/${tenant.organization.slug}/policy`;
    const operator = new Api(tenant, { monotonic: () => now, vault: api.vault, operatorToken: OPERATOR });
    await drain(operator);
    const { json: policy } = await operator.ask('GET', below, { token: OPERATOR });
    const wider = { ...policy, rates: rates({}) };
    expect((await operator.ask('PUT', below, { token: OPERATOR, body: wider })).status).toBe(200);
    now += 1;
    expect(await ask(operator)).toBe(200);
    expect(await ask(elsewhere)).toBe(429);
    now += RECHECK_MILLISECONDS;
    await ask(elsewhere); // whoever comes first sets off the look, and does not wait for it
    const answers = [];
    for (let at = 0; at < 50; at += 1) {
      now += 1; // no time at all by the old limits
      await opened.store.organizations.now(); // the look at the policy goes the same way
      answers.push(await ask(elsewhere));
    }
    expect(answers.at(-1)).toBe(200);
  });

  it('a policy stored before there were rates has the default ones, and one put without them gets those', async () => {
    const tenant = await Tenant.create(opened.store, { policy: { rates: undefined as never } });
    const behind = lookBehind(opened);
    const [row] = await behind.query('SELECT document FROM {policies}');
    await behind.close();
    expect(String(row?.['document'])).not.toContain('rates');
    const api = new Api(tenant, { operatorToken: OPERATOR });
    expect((await api.get(await tenant.human('olga'), '/me')).status).toBe(200);
    const below = `/v1/operator/organizations/${tenant.organization.slug}/policy`;
    const { rates: found, ...others } = (await api.ask('GET', below, { token: OPERATOR })).json as never as Record<
      string,
      unknown
    >;
    expect(found).toEqual(DEFAULT_POLICY.rates);
    const put = await api.ask('PUT', below, { token: OPERATOR, body: others });
    expect(put.status).toBe(200);
    expect(put.json).toMatchObject({ rates: DEFAULT_POLICY.rates });
  });

  it('rates out of bounds are refused', async () => {
    const { api, tenant } = await tenantWith({});
    const operator = new Api(tenant, { operatorToken: OPERATOR, vault: api.vault });
    const below = `/v1/operator/organizations/${tenant.organization.slug}/policy`;
    const { json: policy } = await operator.ask('GET', below, { token: OPERATOR });
    for (const rate of [
      { perSecond: 0, burst: 1 },
      { perSecond: 1, burst: 0 },
      { perSecond: 1, burst: 1.5 },
      { perSecond: 1e6, burst: 1 },
      { perSecond: 1 },
    ]) {
      const body = { ...policy, rates: rates({ reads: { organization: rate as Rate, actor: PLENTY } }) };
      expect(refusalIn(await operator.ask('PUT', below, { token: OPERATOR, body }))).toBe(
        '400 SCHEMA_VALIDATION_FAILED',
      );
    }
    const least = { perSecond: 0.01, burst: 1 };
    const body = { ...policy, rates: rates({ reads: { organization: least, actor: least } }) };
    expect((await operator.ask('PUT', below, { token: OPERATOR, body })).status).toBe(200);
  });
});

const OPERATOR = 'an-operator-token-for-the-limits';

it('a limited request leaves its connection usable, its body unread', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-limits-'));
  rmSync(folder, { recursive: true });
  const [sqlite] = STORES;
  const opened = await sqlite!.open();
  const tenant = await Tenant.create(opened.store, {
    policy: { rates: rates({ commands: { organization: PLENTY, actor: { perSecond: 0.01, burst: 1 } } }) },
  });
  const olga: ActorKey = await tenant.human('olga');
  const api = new Api(tenant);
  const token = await api.tokenOf(olga);
  await api.org('POST', '/commands', { token, body: {} });
  const server = await listen(api.app.fetch, { host: '127.0.0.1', port: 0 });
  const socket = createConnection(Number(new URL(server.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  const head = (method: string, below: string, more: string[] = []) =>
    [`${method} /v1/orgs/${tenant.organization.slug}${below} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`]
      .concat(more, '', '')
      .join('\r\n');
  const until = (text: string) =>
    new Promise<void>((resolve, reject) => {
      socket.on('close', () => reject(new Error(`closed after ${received}`)));
      socket.on('data', () => received.includes(text) && resolve());
    });
  const size = 300_000;
  socket.write(head('POST', '/commands', ['Content-Type: application/json', `Content-Length: ${size}`]));
  socket.write('a'.repeat(size / 2));
  await until('"RATE_LIMITED"');
  socket.write('a'.repeat(size / 2));
  socket.write(head('GET', '/me'));
  await until('"memberships"');
  expect(received.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 429', 'HTTP/1.1 200']);
  socket.destroy();
  await server.close();
  await opened.close();
});
