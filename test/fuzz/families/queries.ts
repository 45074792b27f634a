// Every read route with its parameters: limits, cursors, states, ids, slugs; with the token of who may read, of who may
// not, and with what is no token at all.
import type { HttpCase, World } from '../cases.ts';
import { hostileId } from '../hostile-values.ts';
import type { Random } from '../random.ts';
import { badAuthorization } from '../tokens.ts';

const GROUP_LISTS = [
  ...['', '/work-items', '/memberships', '/conversations', '/leases', '/budgets', '/artifacts', '/evidence'],
  ...['/approvals', '/proposals', '/policy-log', '/state', '/events', '/history', '/snapshots/latest', '/snapshots'],
];

const LIMITS = [
  '0',
  '1',
  '2',
  '50',
  '199',
  '200',
  '201',
  '-1',
  '1e2',
  '1.5',
  '00001',
  '99999',
  '9'.repeat(400),
  '',
  ' 1',
  '１',
  '0x10',
  'NaN',
  '1;2',
  '%00',
];
const AFTERS = [
  '',
  '0',
  '1',
  '999999999999999',
  '9999999999999999',
  '-1',
  '+1',
  '1.0',
  'null',
  '%',
  '%00',
  '%FF',
  '%C0%AF',
  '💥',
  'x'.repeat(1_100),
  'x'.repeat(1_101),
  "' OR 1=1 --",
  '__proto__',
  'urn:uuid:',
  '{"a":1}',
  '%0d%0aX-Injected:%201',
];
const STATES = [
  'open',
  'open,queued',
  'active',
  'open,open',
  '',
  ',',
  'OPEN',
  'open,',
  '__proto__',
  'constructor',
  'revoked',
  'x'.repeat(3_000),
  Array(500).fill('open').join(','),
];
const NAMES = ['limit', 'after', 'state', 'Limit', 'limit[]', '__proto__', 'constructor', 'after%00', 'unknown', ''];

export function readQuery(random: Random, world: World): HttpCase {
  const { quiet, quietScene, busyScene } = world;
  const scene = random.chance(0.85) ? quietScene : busyScene;
  const slug = random.chance(0.95)
    ? quiet.slug
    : random.pick(['busy', 'lab', 'nobody', 'QUIET', '%71uiet', '..', 'x'.repeat(300)]);
  const target = `/v1/orgs/${slug}${pathOf(random, scene)}${queryOf(random)}`;
  const method = random.chance(0.95) ? 'GET' : 'HEAD';
  // What opens nothing in the quiet Organization may be at home in the busy one.
  if (random.chance(0.25) && slug !== 'busy') {
    const authorization = badAuthorization(random, world);
    const headers: [string, string][] = authorization === undefined ? [] : [['authorization', authorization]];
    return { method, target, headers, expect: 'unauthorized' };
  }
  const reader = random.pick([quietScene.olga, quietScene.ada, quietScene.bob, quiet.service]);
  const headers: [string, string][] = [['authorization', `Bearer ${quiet.currentToken(reader)}`]];
  return slug === quiet.slug || slug === '%71uiet'
    ? { method, target, headers }
    : { method, target, headers, expect: 'unauthorized' };
}

function pathOf(random: Random, scene: World['quietScene']): string {
  const group = `/groups/${idIn(random, scene.groupId)}`;
  switch (random.below(10)) {
    case 0:
      return random.pick(['/me', '/missions', '/audit', '/nothing', '', '/', '/commands', '/groups', '/auth/refresh']);
    case 1:
      return `/missions/${idIn(random, scene.missionId)}`;
    case 2:
      return `/agents/${idIn(random, scene.bob.principal.id)}`;
    case 3:
      return `/receipts/${idIn(random, 'urn:uuid:00000000-0000-4000-8000-000000000000')}`;
    case 4:
      return `${group}/work-items/${idIn(random, random.pick(scene.workItemIds))}`;
    case 5:
      return `${group}/conversations/${idIn(random, scene.conversationId)}/messages`;
    case 6:
      return `${group}/events/${idIn(random, scene.groupId)}`;
    default:
      return group + random.pick(GROUP_LISTS);
  }
}

/** Mostly the real one, percent-encoded as it should be. */
function idIn(random: Random, real: string): string {
  if (random.chance(0.75)) return encodeURIComponent(real);
  if (random.chance(0.3))
    return random.pick([
      '%',
      '%zz',
      '%00',
      '%C0%AF',
      '..',
      '.',
      '%2e%2e',
      '%2F',
      '%ff%fe',
      '',
      '%u0041',
      real,
      real.toUpperCase(),
    ]);
  return encodeURIComponent(hostileId(random).replaceAll(/[\ud800-\udfff]/g, ''));
}

function queryOf(random: Random): string {
  const pairs = Array.from({ length: random.below(4) }, () => {
    const name = random.pick(NAMES);
    const values = name === 'limit' ? LIMITS : name === 'state' ? STATES : AFTERS;
    const value = random.chance(0.9) ? random.pick(values) : encodeURIComponent(random.text(random.below(30)));
    return random.chance(0.95) ? `${name}=${value}` : name;
  });
  const separator = random.chance(0.95) ? '&' : random.pick([';', '&&', '?']);
  return pairs.length === 0 ? '' : `?${pairs.join(separator)}`;
}
