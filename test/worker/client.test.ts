import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { canonicalBytes } from '../../src/wire/canonical.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { generateActorKey } from '../../src/worker/keys.ts';
import { adviceFor } from '../../src/worker/outcome.ts';

interface Request {
  path: string;
  body: string;
  token: string | undefined;
  contentType: string | undefined;
}
type Answer =
  { status: number; body: unknown } | { bytes: string } | 'hang up' | 'never' | ((asked: Request) => Answer);

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An authority of which only the answers matter: one per request, in order; the last one stays. */
async function authorityThatAnswers(...answers: Answer[]) {
  const requests: Request[] = [];
  const respond = (request: IncomingMessage, response: ServerResponse, body: string) => {
    const asked = {
      path: request.url ?? '',
      body,
      token: request.headers.authorization,
      contentType: request.headers['content-type'],
    };
    requests.push(asked);
    let answer = answers.length > 1 ? answers.shift() : answers[0];
    while (typeof answer === 'function') answer = answer(asked);
    if (answer === undefined || answer === 'never') return;
    if (answer === 'hang up') return void request.socket.destroy();
    const bytes = { 'content-type': 'application/octet-stream' };
    if ('bytes' in answer) return void response.writeHead(200, bytes).end(answer.bytes);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  };
  const started = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => respond(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  return { requests, client: new AuthorityClient({ url, organization: 'acme', key: KEY }) };
}

const KEY = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' }, 'urn:test:key:ada');
const COMMAND = signCommand(
  KEY,
  { kind: 'message.post', groupId: 'urn:test:group:1', payload: { text: 'hello' } },
  { sessionEpoch: 1, membershipEpoch: 1 },
);
const ACCEPTED = { status: 200, body: { receipt: {}, events: [], duplicate: false } };

function refusal(status: number, code: string, members: object = {}): Answer {
  const error = { code, message: 'no', retryable: false, occurredAt: '2026-11-29T12:00:00.000Z', ...members };
  return { status, body: error };
}

describe('submitting', () => {
  it.each([
    ['a lost answer', 'hang up' as const],
    ['a retryable refusal', refusal(503, 'INTERNAL_ERROR', { retryable: true, retryAfterMs: 1 })],
    ['a page of some proxy', { status: 502, body: 'Bad Gateway' }],
  ])('sends the identical bytes again after %s', async (_, first) => {
    const { client, requests } = await authorityThatAnswers(first, ACCEPTED);
    expect(await client.submit(COMMAND)).toMatchObject({ ok: true });
    expect(requests.map(({ body }) => body)).toEqual(
      Array.from({ length: 2 }, () => Buffer.from(COMMAND.bytes).toString('utf8')),
    );
  });

  it('hands a refusal that waiting does not heal on at once, as a value', async () => {
    const { client, requests } = await authorityThatAnswers(refusal(409, 'REVISION_CONFLICT', { currentRevision: 4 }));
    const outcome = await client.submit(COMMAND);
    expect(outcome).toMatchObject({ ok: false, problem: { code: 'REVISION_CONFLICT', error: { currentRevision: 4 } } });
    expect(requests).toHaveLength(1);
  });

  it('gives up after a bounded number of attempts', async () => {
    const busy = refusal(503, 'INTERNAL_ERROR', { retryable: true, retryAfterMs: 1 });
    const { client, requests } = await authorityThatAnswers(busy);
    expect(await client.submit(COMMAND)).toMatchObject({ ok: false, problem: { code: 'INTERNAL_ERROR' } });
    expect(requests).toHaveLength(5);
  });

  it('waits no longer than its bound, whatever the authority asks for', async () => {
    const later = refusal(429, 'RATE_LIMITED', { retryable: true, retryAfterMs: 3_600_000 });
    const { client, requests } = await authorityThatAnswers(later);
    expect(await client.submit(COMMAND)).toMatchObject({ ok: false, problem: { code: 'RATE_LIMITED' } });
    expect(requests).toHaveLength(1);
  });

  it('ends with the signal of its caller', async () => {
    const { client } = await authorityThatAnswers('never');
    const stop = new AbortController();
    const outcome = client.submit(COMMAND, { signal: stop.signal });
    stop.abort();
    expect(await outcome).toMatchObject({ ok: false, problem: { kind: 'aborted' } });
  });

  it('takes an answer that is no JSON for unreadable, not for a success', async () => {
    const { client } = await authorityThatAnswers({ status: 404, body: { error: 'nothing here' } });
    expect(await client.submit(COMMAND)).toMatchObject({ ok: false, problem: { kind: 'unreadable', status: 404 } });
  });
});

describe('logging in', () => {
  const token = { status: 200, body: { token: 'opaque', expiresAt: '', principal: KEY.principal, sessionEpoch: 3 } };

  const challengeWith =
    (members: object = {}): Answer =>
    ({ body }) => {
      const { clientNonce } = JSON.parse(body) as { clientNonce: string };
      const transcript = {
        agentId: KEY.principal.id,
        challengeId: 'c1',
        clientNonce,
        expiresAt: '2026-11-29T12:00:30.000Z',
        keyId: KEY.keyId,
        protocolVersion: '0.1',
        serverNonce: 's1',
        ...members,
      };
      return { status: 200, body: { challenge: encodeBase64url(canonicalBytes(transcript)) } };
    };

  it('signs the decoded challenge and uses the token from then on', async () => {
    const { client, requests } = await authorityThatAnswers(challengeWith(), token, ACCEPTED);
    expect(await client.openSession()).toMatchObject({ ok: true, value: { sessionEpoch: 3 } });
    await client.submit(COMMAND);
    expect(requests.map(({ path }) => path)).toEqual([
      '/v1/orgs/acme/auth/challenge',
      '/v1/orgs/acme/auth/token',
      '/v1/orgs/acme/commands',
    ]);
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({ openSession: true });
    expect(requests[2]?.token).toBe('Bearer opaque');
  });

  it.each([
    ['another agent', { agentId: 'urn:test:agent:eve' }],
    ['another key', { keyId: 'urn:test:key:eve' }],
    ['another attempt', { clientNonce: 'AAAA' }],
    ['more than a challenge', { pay: 'everything' }],
  ])('does not sign a challenge about %s', async (_, members) => {
    const { client, requests } = await authorityThatAnswers(challengeWith(members), token);
    expect(await client.logIn()).toMatchObject({ ok: false, problem: { kind: 'unreadable' } });
    expect(requests).toHaveLength(1);
  });

  it('logs in by itself when the token has ended, and sends the identical Command again', async () => {
    const ended = refusal(401, 'AUTH_REQUIRED');
    const { client, requests } = await authorityThatAnswers(ended, challengeWith(), token, ACCEPTED);
    expect(await client.submit(COMMAND)).toMatchObject({ ok: true });
    expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual(['commands', 'challenge', 'token', 'commands']);
    expect(requests[3]?.body).toBe(requests[0]?.body);
    expect(JSON.parse(requests[2]?.body ?? '')).toMatchObject({ openSession: false });
  });

  it('hands the refusal on when that fails', async () => {
    const { client } = await authorityThatAnswers(
      refusal(401, 'AUTH_REQUIRED'),
      refusal(403, 'AUTH_INVALID_SIGNATURE'),
    );
    expect(await client.submit(COMMAND)).toMatchObject({ ok: false, problem: { code: 'AUTH_REQUIRED' } });
  });
});

describe('retry advice', () => {
  const refused = (code: string, retryable = false) =>
    adviceFor({ kind: 'refused', code, status: 409, message: '', error: { retryable } } as never).next;

  it('tells apart what to do after a refusal', () => {
    expect(refused('INTERNAL_ERROR', true)).toBe('resend');
    expect(refused('AUTH_REQUIRED')).toBe('log_in');
    expect(refused('AUTH_STALE_SESSION')).toBe('open_session');
    expect(refused('WORK_ALREADY_OWNED')).toBe('read_again');
    expect(refused('BUDGET_EXCEEDED')).toBe('give_up');
    expect(refused('ACTION_ID_COLLISION')).toBe('give_up');
  });
});

describe('contents', () => {
  const content = 'some bytes';
  const contentHash = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const stored = { contentHash, sizeBytes: content.length };

  it('are put under their hash, and again after a lost answer', async () => {
    const { client, requests } = await authorityThatAnswers('hang up', { status: 201, body: stored });
    expect(await client.putContent(new Uint8Array(Buffer.from(content)))).toEqual({ ok: true, value: stored });
    const sent = {
      path: `/v1/orgs/acme/content/${contentHash}`,
      body: content,
      contentType: 'application/octet-stream',
    };
    expect(requests).toMatchObject([sent, sent]);
  });

  it('MWP-FND-007b: are handed on when they have the hash that was asked for, and never otherwise', async () => {
    const { client } = await authorityThatAnswers(
      { bytes: content },
      { bytes: 'other byte' },
      { status: 200, body: {} },
    );
    expect(await client.content(contentHash)).toEqual({ ok: true, value: Buffer.from(content) });
    expect(await client.content(contentHash)).toMatchObject({ ok: false, problem: { kind: 'unreadable' } });
    expect(await client.content(contentHash)).toMatchObject({ ok: false, problem: { kind: 'unreadable' } });
  });

  it('that are refused are refused in the words of the error document', async () => {
    const { client } = await authorityThatAnswers(refusal(404, 'INVALID_COMMAND'));
    expect(await client.content(contentHash)).toMatchObject({ ok: false, problem: { kind: 'refused', status: 404 } });
  });
});
