// Requests of any method to any path, with headers and bodies that do not belong together.
import { json, type HttpCase, type World } from '../cases.ts';
import { hostileValue, rawJson } from '../hostile-values.ts';
import type { Random } from '../random.ts';
import { badAuthorization } from '../tokens.ts';

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PROPFIND',
  'LINK',
  'get',
  'Post',
  'M-SEARCH',
  'X',
];
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  '',
  'application/json, text/html',
  'application/problem+json',
];
const SEGMENTS = [
  'v1',
  'orgs',
  'operator',
  'organizations',
  'auth',
  'challenge',
  'token',
  'refresh',
  'commands',
  'groups',
  'events',
  'healthz',
  'readyz',
  '..',
  '.',
  '',
  '%2e%2e',
  '%2f',
  '%00',
  '%',
  '%zz',
  '__proto__',
  'constructor',
  '*',
  ':slug',
  'é',
  '%F0%9F%92%A5',
  ';a=b',
  'x'.repeat(2_000),
];
const ODD_HEADERS: [string, string][] = [
  ['content-encoding', 'gzip'],
  ['expect', '100-continue'],
  ['x-forwarded-for', '127.0.0.1'],
  ['x-http-method-override', 'DELETE'],
  ['cookie', 'a=b; '.repeat(300)],
  ['accept', '*/*;q=NaN'],
  ['accept-encoding', 'gzip;q=9'],
  ['range', 'bytes=0-0,-1'],
  ['if-none-match', '*'],
  ['origin', 'null'],
  ['content-language', 'é'],
  ['content-length', '7'],
  ['transfer-encoding', 'identity'],
  ['te', 'trailers'],
  ['upgrade', 'websocket'],
];

export function anyRequest(random: Random, world: World): HttpCase {
  const { quiet, quietScene } = world;
  const method = random.pick(METHODS);
  const target = targetOf(random, world);
  const headers: [string, string][] = [];
  const isBad = random.chance(0.5);
  const authorization = isBad ? badAuthorization(random, world) : `Bearer ${quiet.currentToken(quietScene.olga)}`;
  if (authorization !== undefined) headers.push(['authorization', authorization]);
  if (random.chance(0.8)) headers.push(['content-type', random.chance(0.6) ? 'application/json' : random.pick(TYPES)]);
  for (let more = random.below(3); more > 0; more -= 1) headers.push(random.pick(ODD_HEADERS));
  const hasBody = !['GET', 'HEAD', 'get'].includes(method) && random.chance(0.7);
  return { method, target, headers, ...(hasBody && { body: bodyOf(random) }), expect: 'nothing-new' };
}

function targetOf(random: Random, { quiet }: World): string {
  if (random.chance(0.4)) {
    return random.pick([
      `/v1/orgs/${quiet.slug}/commands`,
      `/v1/orgs/${quiet.slug}/auth/challenge`,
      `/v1/orgs/${quiet.slug}/auth/token`,
      `/v1/orgs/${quiet.slug}/auth/refresh`,
      `/v1/orgs/${quiet.slug}/me`,
      '/v1/operator/organizations',
      `/v1/operator/organizations/${quiet.slug}/policy`,
      '/healthz',
      '/readyz',
      '/',
      '*',
      '//',
      '/?',
      '/#',
    ]);
  }
  const depth = random.below(9);
  const segments = Array.from({ length: depth }, () => (random.chance(0.2) ? quiet.slug : random.pick(SEGMENTS)));
  return `/${segments.join('/')}${random.chance(0.2) ? '?a=%' : ''}`;
}

function bodyOf(random: Random): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return json(hostileValue(random));
    case 1:
      return new Uint8Array(Buffer.from(rawJson(random), 'utf8'));
    case 2:
      return random.bytes(random.below(200));
    default: {
      // LOGIN_BODY_MAXIMUM, OPERATOR_BODY_MAXIMUM
      const size = random.chance(0.02) ? random.pick([16_384, 16_385, 262_144, 262_145, 1_048_577]) : random.below(400);
      return new Uint8Array(Buffer.alloc(size, 'a'));
    }
  }
}
