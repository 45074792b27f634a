// The operator API over an Organization of its own, with the operator's token and without. What is accepted may stay.
import type { Policy } from '../../../src/domain/policy.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { agentCard } from '../../transport/cards.ts';
import { json, jsonHeaders, type HttpCase, type World } from '../cases.ts';
import { hostileId } from '../hostile-values.ts';
import { OPERATOR_TOKEN } from '../host.ts';
import { mutatedValue, respelled } from '../mutations.ts';
import type { Random } from '../random.ts';

/** New Organizations bear one of these, so that there are never many. */
const SLUGS = ['new-1', 'new-2', 'new-3', 'lab', 'x', '-', 'UPPER', 'a'.repeat(63), 'a'.repeat(64), '', '..'];
const BAD_TOKENS = [
  '',
  'x',
  OPERATOR_TOKEN.slice(1),
  `${OPERATOR_TOKEN}x`,
  OPERATOR_TOKEN.toUpperCase(),
  'a'.repeat(5_000),
];

export function operatorRequest(random: Random, world: World): HttpCase {
  const { lab } = world;
  const slug = random.chance(0.9) ? lab.slug : random.pick(['nobody', '%00', '..', 'x'.repeat(300), '__proto__']);
  const { method, path, body } = wish(random, world);
  const target = `/v1/operator${path.replace('{slug}', slug)}`;
  const isOperator = random.chance(0.8);
  const headers = jsonHeaders(isOperator ? OPERATOR_TOKEN : random.pick(BAD_TOKENS));
  const bytes = body === undefined ? undefined : spelled(body, random);
  return {
    method,
    target,
    headers,
    ...(bytes && { body: bytes }),
    ...(!isOperator && { expect: 'unauthorized' as const }),
  };
}

function spelled(body: unknown, random: Random): Uint8Array {
  const value = random.chance(0.85) ? mutatedValue(body, random) : body;
  if (random.chance(0.85)) return json(value);
  return new Uint8Array(Buffer.from(respelled(JSON.stringify(value) ?? 'null', random), 'utf8'));
}

interface Wish {
  method: string;
  path: string;
  body?: unknown;
}

function wish(random: Random, { labKeys }: World): Wish {
  const key = random.pick(labKeys);
  const { principal, keyId, publicKey } = key;
  switch (random.below(9)) {
    case 0: {
      const organization = {
        slug: random.pick(SLUGS),
        displayName: 'New',
        organizationId: `urn:fuzz:organization:${random.below(3)}`,
      };
      return { method: 'POST', path: '/organizations', body: organization };
    }
    case 1: {
      const query = random.pick(['', '?limit=1', '?limit=201', '?after=%00', '?after=a', '?limit=1&limit=x']);
      return {
        method: 'GET',
        path: random.pick(['/organizations', '/organizations/{slug}/principals']) + query,
      };
    }
    case 2:
    case 3:
      return {
        method: 'POST',
        path: '/organizations/{slug}/principals',
        body: { principal, displayName: 'Olga', keys: [{ keyId, publicKey, validFrom: '2026-01-01T00:00:00Z' }] },
      };
    case 4:
      return { method: 'POST', path: '/organizations/{slug}/keys', body: { principal, keyId, publicKey } };
    case 5: {
      const named = random.chance(0.7)
        ? encodeURIComponent(keyId)
        : random.pick(['%', '%00', '..', encodeURIComponent(hostileId(random).replaceAll(/[\ud800-\udfff]/g, ''))]);
      const end = random.pick([{ validUntil: '2099-01-01T00:00:00Z' }, { revokedAt: '2098-01-01T00:00:00Z' }]);
      return { method: 'POST', path: `/organizations/{slug}/keys/${named}/end`, body: end };
    }
    case 6:
      return {
        method: 'POST',
        path: '/organizations/{slug}/agents',
        body: { card: agentCard(key, { cardVersion: random.between(1, 3) }) },
      };
    case 7:
      return { method: 'PUT', path: '/organizations/{slug}/policy', body: policy(random) };
    default:
      return { method: random.pick(['GET', 'DELETE', 'PATCH']), path: '/organizations/{slug}/policy' };
  }
}

function policy(random: Random): Policy {
  return { ...DEFAULT_POLICY, version: random.between(1, 4) };
}
