// message.post as whole HTTP requests, signed beforehand: what the load process sends is bytes, and costs it nothing.
import { randomUUID } from 'node:crypto';
import { signCommand } from '../../src/worker/commands.ts';
import { actorKeyFromSeed } from '../../src/worker/keys.ts';
import type { SpokenGroup, World } from './world.ts';

/** Makes a Command of about 2.8 kB, as in design section 12. */
const TEXT_CHARACTERS = 2_000;

export function signedRequests(world: World, groups: readonly SpokenGroup[], count: number): Buffer[] {
  const speakers = world.speakers.map(({ principalId, keyId, seed, token }) => ({
    key: actorKeyFromSeed({ type: 'human', id: principalId }, keyId, Buffer.from(seed, 'base64')),
    token,
  }));
  return Array.from({ length: count }, (_, at) => {
    const { groupId, conversationId, members } = groups[at % groups.length] as SpokenGroup;
    const { key, token } = speakers[members[at % members.length] as number] as (typeof speakers)[number];
    const text = `${at} `.padEnd(TEXT_CHARACTERS, 'All work is work of the Group. ');
    const payload = { messageId: `urn:uuid:${randomUUID()}`, conversationId, content: [{ type: 'text', text }] };
    const { bytes } = signCommand(key, { kind: 'message.post', groupId, payload }, { membershipEpoch: 1 });
    return request(world, token, bytes);
  });
}

function request({ url, slug }: World, token: string, body: Uint8Array): Buffer {
  const head = [
    `POST /v1/orgs/${slug}/commands HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.byteLength}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}
