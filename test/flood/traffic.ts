// What the two tenants of the flood send, as whole HTTP requests made beforehand: what they send costs them nothing.
import { randomBytes, randomUUID } from 'node:crypto';
import { signCommand } from '../../src/worker/commands.ts';
import { generateActorKey } from '../../src/worker/keys.ts';
import { request, signedRequests } from '../bench/requests.ts';
import type { World } from '../bench/world.ts';

export { signedRequests } from '../bench/requests.ts';

/** Of the first speaker: its own Memberships, a page of Events, the Group. */
export function reads(world: World, count: number): Buffer[] {
  return Array.from({ length: count }, (_, at) => {
    const { groupId, members } = world.groups[at % world.groups.length]!;
    const { token } = world.speakers[members[0]!]!;
    const group = `/groups/${encodeURIComponent(groupId)}`;
    const below = ['/me', group, `${group}/events?limit=20`][at % 3]!;
    return request({ url: world.url, path: `/v1/orgs/${world.slug}${below}`, token });
  });
}

/** Four kinds of flood, each by itself endless when it is sent over and over. */
export type FloodKind = 'valid' | 'bad signatures' | 'bad logins' | 'garbage';

export function flood(kind: FloodKind, world: World, count: number): Buffer[] {
  if (kind === 'valid') return signedRequests(world, world.groups, { count });
  return Array.from({ length: count }, (_, at) => FLOODS[kind](world, at));
}

const FLOODS: Record<Exclude<FloodKind, 'valid'>, (world: World, at: number) => Buffer> = {
  /** Well-formed, by a member who may send it, under a key that is not its own. */
  'bad signatures': (world, at) => {
    const { groupId, conversationId, members } = world.groups[at % world.groups.length]!;
    const speaker = world.speakers[members[0]!]!;
    const stranger = generateActorKey({ type: 'human', id: speaker.principalId }, speaker.keyId);
    const payload = { messageId: `urn:uuid:${randomUUID()}`, conversationId, content: [{ type: 'text', text: 'x' }] };
    const { bytes } = signCommand(stranger, { kind: 'message.post', groupId, payload }, { membershipEpoch: 1 });
    return request({ url: world.url, path: `/v1/orgs/${world.slug}/commands`, token: speaker.token, body: bytes });
  },
  'bad logins': (world, at) => {
    const { principalId, keyId } = world.speakers[at % world.speakers.length]!;
    const principal = { type: 'human', id: principalId };
    const path = `/v1/orgs/${world.slug}/auth`;
    const ask = { principal, keyId, clientNonce: randomBytes(12).toString('base64url') };
    const answer = { principal, challenge: randomBytes(300).toString('base64url'), challengeSignature: 'AAAA' };
    return at % 2 === 0
      ? request({ url: world.url, path: `${path}/challenge`, body: json(ask) })
      : request({ url: world.url, path: `${path}/token`, body: json(answer) });
  },
  garbage: (world, at) => {
    const path = `/v1/orgs/${world.slug}`;
    const { token } = world.speakers[at % world.speakers.length]!;
    const forged = `${token.slice(0, token.lastIndexOf('.') + 1)}${randomBytes(32).toString('base64url')}`;
    const kinds = [
      { path: `${path}/me`, token: forged },
      { path: `${path}/commands`, token: forged, body: json({}) },
      { path: `${path}/commands`, token, body: randomBytes(20_000) },
      { path: `${path}/commands`, token, body: json({ protocolVersion: '0.1' }) },
      { path: `/v1/orgs/${randomUUID()}/me` },
      { path: '/v1/operator/organizations', token: 'guess' },
    ];
    return request({ url: world.url, ...kinds[at % kinds.length]! });
  },
};

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
