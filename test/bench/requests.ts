// Commands as whole HTTP requests, signed beforehand: what the load process sends is bytes, and costs it nothing.
import { randomUUID } from 'node:crypto';
import { signCommand, type CommandDraft } from '../../src/worker/commands.ts';
import { actorKeyFromSeed } from '../../src/worker/keys.ts';
import { workContract } from '../support/work-contract.ts';
import type { Speaker, SpokenGroup, World } from './world.ts';

/** Makes a Command of about 2.8 kB, as in design section 12. */
const TEXT_CHARACTERS = 2_000;
/** Before that of the Missions. */
const WORK_DEADLINE = '2098-01-01T00:00:00Z';

export interface Wanted {
  count: number;
  /** `work`: work.authorize by the Coordinator; otherwise message.post by a member. */
  kind?: 'message' | 'work';
  textCharacters?: number;
}

export function signedRequests(
  world: World,
  groups: readonly SpokenGroup[],
  { count, kind = 'message', textCharacters = TEXT_CHARACTERS }: Wanted,
): Buffer[] {
  const speakers = world.speakers.map((speaker) => ({ key: keyOf('human', speaker), token: speaker.token }));
  const coordinator = keyOf('agent', world.coordinator);
  const path = `/v1/orgs/${world.slug}/commands`;
  const send = (token: string, body: Uint8Array) => request({ url: world.url, path, token, body });
  return Array.from({ length: count }, (_, at) => {
    const group = groups[at % groups.length] as SpokenGroup;
    if (kind === 'work') {
      return send(world.coordinator.token, signCommand(coordinator, authorize(group), COORDINATING).bytes);
    }
    const { key, token } = speakers[group.members[at % group.members.length] as number] as (typeof speakers)[number];
    const text = `${at} `.padEnd(textCharacters, 'All work is work of the Group. ');
    return send(token, signCommand(key, post(group, text), { membershipEpoch: 1 }).bytes);
  });
}

const COORDINATING = { sessionEpoch: 1, membershipEpoch: 1, coordinatorEpoch: 1 };

function keyOf(type: 'human' | 'agent', { principalId, keyId, seed }: Speaker) {
  return actorKeyFromSeed({ type, id: principalId }, keyId, Buffer.from(seed, 'base64'));
}

function post({ groupId, conversationId }: SpokenGroup, text: string): CommandDraft {
  const payload = { messageId: freshId(), conversationId, content: [{ type: 'text', text }] };
  return { kind: 'message.post', groupId, payload };
}

function authorize({ groupId }: SpokenGroup): CommandDraft {
  const contract = workContract(WORK_DEADLINE, { budget: { modelTokenLimit: 1 } });
  return { kind: 'work.authorize', groupId, payload: { workItemId: freshId(), contract } };
}

function freshId(): string {
  return `urn:uuid:${randomUUID()}`;
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
