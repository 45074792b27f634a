// The table of error codes as clients see it over HTTP: for each of the 27 its status, whether the same bytes may be sent
// again, and after how long; and the error document on every path that leads nowhere.
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalResponse } from '../../src/http/errors.ts';
import { STATUS_OF_CODE } from '../../src/http/statuses.ts';
import { ERROR_CODES, refuse, type ErrorCode } from '../../src/protocol/refusals.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, refusalIn, type Answer } from './api.ts';
import { refusalFault } from './declared.ts';

/** `true`: always; `timed`: when time heals it, which `retryAfterMs` says. From the table of the requirements. */
const TABLE: readonly [ErrorCode, number, boolean | 'timed'][] = [
  ['UNSUPPORTED_VERSION', 400, false],
  ['AUTH_REQUIRED', 401, false],
  ['AUTH_INVALID_SIGNATURE', 403, false],
  ['AUTH_STALE_SESSION', 409, false],
  ['AUTH_STALE_COORDINATOR', 409, false],
  ['AUTH_FORBIDDEN', 403, false],
  ['GROUP_NOT_FOUND', 404, false],
  ['MEMBERSHIP_REQUIRED', 403, false],
  ['MEMBERSHIP_STALE', 409, false],
  ['SCHEMA_VALIDATION_FAILED', 400, false],
  ['INVALID_COMMAND', 422, false],
  ['INVALID_STATE_TRANSITION', 409, false],
  ['REVISION_CONFLICT', 409, false],
  ['ACTION_ID_COLLISION', 409, false],
  ['UNKNOWN_CRITICAL_EXTENSION', 422, false],
  ['WORK_CONTRACT_INCOMPLETE', 422, false],
  ['WORK_OFFER_EXPIRED', 409, false],
  ['WORK_ALREADY_OWNED', 409, false],
  ['WORK_LEASE_EXPIRED', 409, false],
  ['WORK_STALE_OWNERSHIP', 409, false],
  ['APPROVAL_REQUIRED', 409, false],
  ['BUDGET_EXCEEDED', 409, false],
  ['RATE_LIMITED', 429, 'timed'],
  ['BACKPRESSURE', 503, true],
  ['CURSOR_TOO_OLD', 410, false],
  ['PROTOCOL_VIOLATION', 400, false],
  ['INTERNAL_ERROR', 503, true],
];

async function answered(code: ErrorCode, retryAfterMs?: number): Promise<Answer> {
  const app = new Hono();
  app.get('/', (c) => refusalResponse(c, refuse(code, 'no', retryAfterMs === undefined ? {} : { retryAfterMs })));
  const response = await app.request('/');
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer['json'] };
}

describe('each code over HTTP', () => {
  it('the table has all of them', () => {
    expect(TABLE.map(([code]) => code).sort()).toEqual([...ERROR_CODES].sort());
  });

  it.each(TABLE)('MWP-EXT-004a: %s is %i, and the same bytes again: %s', async (code, status, retry) => {
    expect(STATUS_OF_CODE[code]).toBe(status);
    const given = retry === true ? 2_500 : undefined;
    const answer = await answered(code, given);
    expect(answer.json).toMatchObject({ code, retryable: retry === true });
    expect(refusalFault(answer, [code])).toBeUndefined();
    expect(answer.headers.get('retry-after')).toBe(retry === true ? '3' : null);
    if (retry !== 'timed') return;
    const timed = await answered(code, 1);
    expect(timed.json).toMatchObject({ retryable: true, retryAfterMs: 1 });
    expect([timed.headers.get('retry-after'), refusalFault(timed, [code])]).toEqual(['1', undefined]);
  });

  it('MWP-EXT-004a: who may send the same bytes again is always told when, also where a thrower left it out', async () => {
    for (const code of ['INTERNAL_ERROR', 'BACKPRESSURE'] as const) {
      const answer = await answered(code);
      expect([answer.json['retryAfterMs'], answer.headers.get('retry-after')]).toEqual([1_000, '1']);
      expect(refusalFault(answer, [code])).toBeUndefined();
    }
  });
});

describe.each(STORES)('$name: what leads nowhere', ({ open }) => {
  let opened: OpenedStore;
  let api: Api;
  let token: string;
  let slug: string;

  beforeAll(async () => {
    opened = await open();
    const tenant = await Tenant.create(opened.store);
    const olga: ActorKey = await tenant.human('olga');
    api = new Api(tenant, { operatorToken: 'an-operator-token-for-tests' });
    token = await api.tokenOf(olga);
    slug = tenant.organization.slug;
  });
  afterAll(() => opened.close());

  // Api.ask holds each answer against the error document and its headers as well.
  it('paths: 404 in the words of the protocol, a trailing slash and a case of its own included', async () => {
    const own = (below: string) => `/v1/orgs/${slug}${below}`;
    const paths = [
      '/',
      '/healthz/',
      '/HEALTHZ',
      '/v1',
      '/v1/orgs',
      own('/me/'),
      own(''),
      own('/'),
      own('/groups'),
      own('/missions/'),
    ];
    for (const path of paths) {
      const answer = await api.ask('GET', path, { token });
      expect([path, refusalIn(answer)]).toEqual([path, '404 PROTOCOL_VIOLATION']);
    }
  });

  it('paths that no text of an id can be are an object that does not exist', async () => {
    for (const odd of ['%', '%zz', '%00', '%ff', 'x', encodeURIComponent('urn:x:ü')]) {
      expect([odd, refusalIn(await api.org('GET', `/groups/${odd}`, { token }))]).toEqual([odd, '404 GROUP_NOT_FOUND']);
      expect([odd, refusalIn(await api.org('GET', `/receipts/${odd}`, { token }))]).toEqual([
        odd,
        '404 INVALID_COMMAND',
      ]);
    }
  });

  it('methods: 405, with those that the path has', async () => {
    const allowed = async (method: string, path: string, asked = {}) => {
      const answer = await api.ask(method, path, asked);
      return [answer.status, answer.headers.get('allow')];
    };
    const operator = { token: 'an-operator-token-for-tests' };
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      expect(await allowed(method, '/healthz')).toEqual([405, 'GET, HEAD']);
      expect(await allowed(method, '/docs/start.js')).toEqual([405, 'GET, HEAD']);
      expect(await allowed(method, `/v1/orgs/${slug}/me`, { token })).toEqual([405, 'GET, HEAD']);
    }
    expect(await allowed('OPTIONS', `/v1/orgs/${slug}/commands`, { token })).toEqual([405, 'POST']);
    expect(await allowed('GET', `/v1/orgs/${slug}/commands`, { token })).toEqual([405, 'POST']);
    expect(await allowed('DELETE', '/v1/operator/organizations/acme/policy', operator)).toEqual([
      405,
      'GET, HEAD, PUT',
    ]);
  });

  it('MWP-TEN: without a token neither paths nor methods nor Organizations tell anything', async () => {
    for (const organization of [slug, 'nowhere', '%zz'])
      for (const below of ['/me', '/commands', '/no/such/path'])
        for (const method of ['GET', 'POST', 'OPTIONS']) {
          const answer = await api.ask(method, `/v1/orgs/${organization}${below}`);
          expect([refusalIn(answer), answer.headers.get('allow')]).toEqual(['401 AUTH_REQUIRED', null]);
        }
  });

  it('HEAD is GET without a body, also where it is refused', async () => {
    for (const [path, status] of [
      ['/me', 200],
      ['/groups/urn:x:1', 404],
      ['/missions?limit=0', 400],
    ] as const) {
      const answer = await api.org('HEAD', path, { token });
      expect([path, answer.status, answer.text]).toEqual([path, status, '']);
    }
    expect((await api.org('HEAD', '/me')).status).toBe(401);
  });

  it('bodies: 413 above the bound, told by length or found while reading', async () => {
    const large = { token, bytes: new Uint8Array(1_048_577) };
    expect(refusalIn(await api.org('POST', '/commands', large))).toBe('413 PROTOCOL_VIOLATION');
    const told = { ...large, headers: { 'content-length': '1048577' } };
    expect(refusalIn(await api.org('POST', '/commands', told))).toBe('413 PROTOCOL_VIOLATION');
    const login = { bytes: new Uint8Array(16_385), headers: { 'content-length': '16385' } };
    expect(refusalIn(await api.org('POST', '/auth/token', login))).toBe('413 PROTOCOL_VIOLATION');
  });
});
