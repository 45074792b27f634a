// Tokens of every sort: good ones, those of another Organization, and those that only look like some.
import { createHmac } from 'node:crypto';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { Tokens } from '../../src/http/auth/tokens.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { World } from './cases.ts';
import type { Random } from './random.ts';
import type { FuzzTenant } from './tenant.ts';

/** As the service would have made it an hour ago. */
export function expiredToken(tenant: FuzzTenant): Promise<string> {
  const { organizationId, slug, service } = tenant;
  const tokens = new Tokens(new KeyVault(Buffer.alloc(32, 7)));
  const at = Date.now() - 3_600_000;
  const bearer = {
    organizationId: organizationId as OrganizationId,
    slug,
    principal: service.principal,
    keyId: service.keyId,
    signedInAt: at,
  };
  return tokens.issue(bearer, at).then(({ token }) => token);
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** `Authorization` values that must open nothing in the quiet Organization. */
export function badAuthorization(random: Random, world: World): string | undefined {
  const { quiet, busy, busyScene, quietScene } = world;
  const good = quiet.currentToken(quietScene.olga);
  const [head = '', claims = '', signature = ''] = good.split('.');
  switch (random.below(14)) {
    case 0:
      return undefined;
    case 1:
      return `Bearer ${busy.currentToken(busyScene.olga)}`;
    case 2:
      return `Bearer ${world.expiredToken}`;
    case 3:
      return `Bearer ${part({ alg: random.pick(['none', 'None', 'HS512', 'RS256', 'EdDSA', '']) })}.${claims}.${random.pick(['', signature])}`;
    case 4: // another key
      return `Bearer ${head}.${claims}.${createHmac('sha256', 'another').update(`${head}.${claims}`).digest('base64url')}`;
    case 5: // claims of one's own choice
      return `Bearer ${head}.${part({ ...decoded(claims), aud: random.pick([quiet.organizationId, '', 7, null, ['x']]), exp: 2 ** 40 })}.${signature}`;
    case 6:
      return `Bearer ${good}${random.pick(['x', '.x', '=', '.'])}`;
    case 7: {
      const at = random.below(claims.length);
      return `Bearer ${head}.${claims.slice(0, at)}${claims[at] === 'A' ? 'B' : 'A'}${claims.slice(at + 1)}.${signature}`;
    }
    case 8:
      return `Bearer ${'a'.repeat(random.pick([4_095, 4_097, 8_000]))}`;
    case 9:
      return `Basic ${Buffer.from('user:password').toString('base64')}`;
    case 10:
      return random.pick([
        'Bearer',
        'Bearer ',
        'bearer null',
        'Bearer undefined',
        'Bearer a b',
        good,
        `Token ${good}`,
        ',',
      ]);
    case 11: // a header that names its own key
      return `Bearer ${part({ alg: 'HS256', jwk: { kty: 'oct', k: 'AA' }, kid: '../../dev/null', jku: 'http://127.0.0.1:1/' })}.${claims}.${signature}`;
    case 12:
      return `Bearer ${part({ alg: 'HS256' })}.${part(random.pick<unknown>([null, [], 1, 'x', {}, { aud: {} }]))}.AA`;
    default:
      return `Bearer ${Buffer.from(random.bytes(random.below(60))).toString('base64url')}`;
  }
}

function decoded(claims: string): object {
  return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8') || '{}') as object;
}
