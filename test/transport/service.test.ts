// The whole service, over a network: start, restart, stop, two processes on one database, and HTTP that is none.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigFault, readConfig, type Environment } from '../../src/config.ts';
import { startService, type RunningService } from '../../src/main.ts';
import { newMasterKeyText } from '../../src/platform/master-key.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { answerChallenge } from '../../src/worker/challenge.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { leaseDatabase } from '../support/databases.ts';
import { agentCard } from './cards.ts';

const TOKEN = 'an-operator-token-for-tests';
const running: RunningService[] = [];

async function start(environment: Environment): Promise<RunningService> {
  const defaults = { MWP_PORT: '0', MWP_OPERATOR_TOKEN: TOKEN, MWP_LOG_LEVEL: 'silent' };
  const service = await startService(readConfig({ ...defaults, ...environment }));
  running.push(service);
  return service;
}

afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});

async function operate(service: RunningService, below: string, body: object): Promise<void> {
  const response = await fetch(`${service.url}/v1/operator${below}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

async function agentIn(service: RunningService): Promise<ActorKey> {
  const ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
  await operate(service, '/organizations', { slug: 'acme', displayName: 'Acme' });
  await operate(service, '/organizations/acme/agents', { card: agentCard(ada) });
  return ada;
}

const clientOf = ({ url }: RunningService, key: ActorKey) => new AuthorityClient({ url, organization: 'acme', key });

describe('a local service', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-service-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('answers on the port that it was given, is ready, and stops twice without a fuss', async () => {
    const service = await start({ MWP_DATA_DIR: folder });
    expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({
      status: 'ready',
      dependencies: { database: 'ready', keys: 'ready' },
    });
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
  });

  it('keeps the database file from other users of the machine, whatever the folder is open to', async () => {
    chmodSync(folder, 0o755);
    await agentIn(await start({ MWP_DATA_DIR: folder }));
    for (const file of readdirSync(folder))
      expect([file, statSync(join(folder, file)).mode & 0o077]).toEqual([file, 0]);
  });

  it('MWP-IDN-008d: after a restart the Session Epoch goes on, and a token of before still reads', async () => {
    const first = await start({ MWP_DATA_DIR: folder });
    const ada = await agentIn(first);
    const opened = await clientOf(first, ada).openSession();
    if (!opened.ok) throw new Error('no session');
    expect(opened.value.sessionEpoch).toBe(1);
    await first.stop();
    const second = await start({ MWP_DATA_DIR: folder });
    const me = await fetch(`${second.url}/v1/orgs/acme/me`, {
      headers: { authorization: `Bearer ${opened.value.token}` },
    });
    expect(await me.json()).toMatchObject({ sessionEpoch: 1 });
    expect(await clientOf(second, ada).openSession()).toMatchObject({ ok: true, value: { sessionEpoch: 2 } });
  });

  it('does not start under another master key than the one that its database was sealed under', async () => {
    const first = await start({ MWP_DATA_DIR: folder });
    await agentIn(first);
    await first.stop();
    const other = start({ MWP_DATA_DIR: folder, MWP_MASTER_KEY: newMasterKeyText() });
    await expect(other).rejects.toThrow(ConfigFault);
    await expect(other).rejects.toThrow(/^MWP_MASTER_KEY /);
    expect((await fetch(`${(await start({ MWP_DATA_DIR: folder })).url}/readyz`)).status).toBe(200);
  });

  it('does not start on a port that is taken, and leaves nothing running', async () => {
    const first = await start({ MWP_DATA_DIR: folder });
    const { port } = new URL(first.url);
    await expect(start({ MWP_DATA_DIR: join(folder, 'other'), MWP_PORT: port })).rejects.toThrow(/EADDRINUSE/);
  });

  it('survives what is no HTTP, heads that are too large and connections that hang up', async () => {
    const { url } = await start({ MWP_DATA_DIR: folder });
    const { port } = new URL(url);
    const raw = (text: string) =>
      new Promise<string>((resolve) => {
        let answer = '';
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        socket.on('data', (chunk) => (answer += chunk.toString()));
        socket.on('close', () => resolve(answer));
        socket.on('error', () => undefined);
      });
    expect(await raw('nonsense\r\n\r\n')).toContain('400 Bad Request');
    for (const head of [
      'GET http://[x HTTP/1.1\r\nHost: x',
      'GET /a\\b HTTP/1.1\r\nHost: x',
      'GET / HTTP/1.1\r\nHost: a b',
    ]) {
      const answer = await raw(`${head}\r\nConnection: close\r\n\r\n`);
      expect(answer).toContain('400 Bad Request');
      expect(answer).toContain('"code":"PROTOCOL_VIOLATION"');
    }
    expect(await raw('TRACE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain(
      '405 Method Not Allowed',
    );
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`)).toContain('431');
    const half = connect(Number(port), '127.0.0.1', () => {
      half.write(
        'POST /v1/orgs/acme/commands HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      );
      half.destroy();
    });
    await new Promise((resolve) => half.on('close', resolve));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('answers a request that is under way when it is told to stop', async () => {
    const service = await start({ MWP_DATA_DIR: folder });
    const body = JSON.stringify({ principal: { type: 'human', id: 'urn:x:1' }, keyId: 'urn:x:2', clientNonce: 'abcd' });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let answer = '';
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    const begun = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        answer += chunk.toString();
        if (answer.includes('100 Continue')) resolve();
      });
    });
    const head = ['POST /v1/orgs/acme/auth/challenge HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
    head.push(`Content-Length: ${body.length}`, 'Expect: 100-continue', '', '');
    socket.write(head.join('\r\n'));
    await begun; // the service has the head and waits for the body
    const stopped = service.stop();
    socket.write(body);
    await Promise.all([stopped, ended]);
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(answer).toContain('"challenge":');
  });

  it('stops with idle and half-open connections at once', async () => {
    const service = await start({ MWP_DATA_DIR: folder });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    await new Promise((resolve) => socket.on('connect', resolve));
    await fetch(`${service.url}/healthz`); // its connection is kept alive
    const started = performance.now();
    await service.stop();
    socket.destroy();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('two processes on one PostgreSQL', () => {
  it('MWP-IDN-007b: one challenge is used once over both, whoever issued it', async () => {
    const { url, giveBack } = await leaseDatabase();
    const blobs = mkdtempSync(join(tmpdir(), 'mwp-service-'));
    try {
      const secrets = { DATABASE_URL: url, MWP_MASTER_KEY: randomBytes(32).toString('base64') };
      const environment = { ...secrets, MWP_BLOBS_DIR: blobs };
      const [a, b] = [await start(environment), await start(environment)];
      const ada = await agentIn(a);
      const post = async (service: RunningService, below: string, body: object) => {
        const response = await fetch(`${service.url}/v1/orgs/acme${below}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return { status: response.status, json: (await response.json()) as Record<string, string> };
      };
      const { principal, keyId } = ada;
      const asked = await post(a, '/auth/challenge', { principal, keyId, clientNonce: 'abcd' });
      const challenge = asked.json['challenge'] ?? '';
      const body = { principal, challenge, challengeSignature: answerChallenge(ada, 'abcd', challenge) };
      const attempts = [a, b, a, b, a, b].map((service) => post(service, '/auth/token', body));
      const statuses = (await Promise.all(attempts)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 403, 403, 403, 403, 403]);

      // The token of one is good at the other, and so is what the other then does.
      const epochs = [await clientOf(a, ada).openSession(), await clientOf(b, ada).openSession()];
      expect(epochs.map((outcome) => outcome.ok && outcome.value.sessionEpoch)).toEqual([1, 2]);
    } finally {
      for (const service of running.splice(0)) await service.stop();
      giveBack();
      rmSync(blobs, { recursive: true, force: true });
    }
  });
});
