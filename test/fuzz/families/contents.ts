// Contents: hashes that are none or of other bytes, odd heads, lengths that lie, and good ones. In the quiet Organization
// nothing may come to be stored or stay reserved; the busy one takes what is right.
import { createHash } from 'node:crypto';
import type { HttpCase, World } from '../cases.ts';
import { hostileId } from '../hostile-values.ts';
import type { Random } from '../random.ts';
import { badAuthorization } from '../tokens.ts';

const BYTES = 'application/octet-stream';
const TYPES = [
  BYTES,
  `${BYTES}; a=b`,
  'APPLICATION/OCTET-STREAM',
  'application/json',
  'text/plain',
  '',
  `${BYTES},`,
  '*/*',
];
const TAGS = ['*', '"x"', 'W/"x"', '"', '', ',,,', '"a", "b"', `"sha256:${'0'.repeat(64)}"`, 'x'.repeat(2_000)];
const ODD: readonly [string, string][] = [
  ['content-range', 'bytes 0-1/2'],
  ['content-encoding', 'gzip'],
  ['range', 'bytes=0-0'],
  ['range', 'bytes=-1,5-2'],
  ['if-match', '"x"'],
  ['if-none-match', '*'],
  ['transfer-encoding', 'chunked'],
  ['content-length', '99999999999'],
  ['content-length', '-1'],
  ['content-length', '1e3'],
  ['content-md5', 'AAAA'],
  ['x-http-method-override', 'DELETE'],
];

export function contentRequest(random: Random, world: World): HttpCase {
  const isQuiet = random.chance(0.6);
  const [tenant, scene] = isQuiet ? [world.quiet, world.quietScene] : [world.busy, world.busyScene];
  const method = random.pick(['PUT', 'PUT', 'PUT', 'GET', 'GET', 'HEAD', 'POST', 'DELETE']);
  const body = random.bytes(random.below(random.chance(0.02) ? 400_000 : 600));
  const own = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  const hash =
    isQuiet && method === 'PUT' ? wrongHash(random, own) : random.pick([own, hashOf(random, own, tenant.contentHash)]);
  const isOpen = random.chance(0.9);
  const bad = isOpen ? undefined : badAuthorization(random, world);
  const who = random.pick([scene.olga, scene.ada, scene.bob]);
  const authorization = isOpen ? `Bearer ${tenant.currentToken(who)}` : bad;
  const headers: [string, string][] = [];
  if (authorization !== undefined) headers.push(['authorization', authorization]);
  if (random.chance(0.95)) headers.push(['content-type', random.chance(0.8) ? BYTES : random.pick(TYPES)]);
  if (random.chance(0.2)) headers.push(['if-none-match', random.chance(0.4) ? `"${hash}"` : random.pick(TAGS)]);
  if (random.chance(0.2)) headers.push(random.pick(ODD));
  const target = `/v1/orgs/${isOpen ? tenant.slug : world.quiet.slug}/content/${encodeURIComponent(hash)}`;
  const hasBody = !['GET', 'HEAD'].includes(method);
  return { method, target, headers, ...(hasBody && { body }), ...(!isOpen && { expect: 'unauthorized' }) };
}

/** Of other bytes than these, or of none. */
function wrongHash(random: Random, own: string): string {
  const wrong = hashOf(random, own, undefined);
  return wrong === own ? `${own.slice(0, -1)}${own.endsWith('0') ? '1' : '0'}` : wrong;
}

function hashOf(random: Random, own: string, stored: string | undefined): string {
  const hex = Buffer.from(random.bytes(32)).toString('hex');
  return random.pick([
    stored ?? `sha256:${hex}`,
    `sha256:${hex}`,
    own.toUpperCase(),
    own.slice(7),
    `${own}0`,
    `${own}\n`,
    `sha512:${hex}`,
    `sha256:${'..%2f'.repeat(10)}`,
    '..',
    'incoming',
    random.text(20).replace(/[\ud800-\udfff]/g, ''),
    String(hostileId(random)),
  ]);
}
