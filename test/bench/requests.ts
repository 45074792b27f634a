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
    return request({ url: world.url, path: `/v1/orgs/${world.slug}/commands`, token, body: bytes });
  });
}

export interface RequestDraft {
  url: string;
  path: string;
  token?: string;
  /** Absent: a GET. */
  body?: Uint8Array;
}

export function request({ url, path, token, body }: RequestDraft): Buffer {
  const head = [
    `${body ? 'POST' : 'GET'} ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body ? ['Content-Type: application/json', `Content-Length: ${body.byteLength}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)]);
}
