// Contents over a real connection: they come and go piece by piece, whoever hangs up leaves nothing behind, an answer that
// turns out wrong breaks off, and only who puts a content may take longer than other requests.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen, type Listening } from '../../src/http/listen.ts';
import { openBlobFiles } from '../../src/store/files/blobs.ts';
import type { BlobStore } from '../../src/store/port/blobs.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, hashOf } from './api.ts';

const MEGABYTE = 1_048_576;
const BOUND = 8 * MEGABYTE;
/** Milliseconds that a body may take; the listener looks once a second. */
const REQUEST_TIMEOUT = 300;

const [sqlite] = STORES as [(typeof STORES)[number]];

describe('contents over a connection', () => {
  let opened: OpenedStore;
  let folder: string;
  let blobs: BlobStore;
  let tenant: Tenant;
  let api: Api;
  let bob: ActorKey;
  let token: string;
  let listening: Listening;
  let peers: Socket[];

  beforeEach(async () => {
    opened = await sqlite.open();
    folder = mkdtempSync(join(tmpdir(), 'mwp-streams-'));
    blobs = await openBlobFiles(folder);
    tenant = await Tenant.create(opened.store);
    bob = await tenant.agent('bob');
    const mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('ada'));
    await mission.join(bob);
    api = new Api(tenant, { blobs, contentBytesMaximum: BOUND });
    token = await api.tokenOf(bob);
    listening = await listen(api.app.fetch, { host: '127.0.0.1', port: 0, requestTimeout: REQUEST_TIMEOUT });
    peers = [];
  });
  afterEach(async () => {
    for (const peer of peers) peer.destroy();
    await listening.close();
    await opened.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (hash: string) => `${listening.url}/v1/orgs/${tenant.organization.slug}/content/${hash}`;
  const headers = () => ({ authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' });
  const put = (hash: string, body: unknown) =>
    fetch(urlOf(hash), { method: 'PUT', headers: headers(), body: body as string, duplex: 'half' });
  const incoming = () => readdirSync(join(folder, 'incoming'));
  const uploadOf = (hash: string) =>
    opened.store.read(tenant.organization.organizationId, (reader) =>
      reader.upload({ principal: bob.principal, hash }),
    );

  async function peer(text: string): Promise<{ socket: Socket; ended: Promise<string> }> {
    const socket = connect(Number(new URL(listening.url).port), '127.0.0.1');
    peers.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    return { socket, ended: once(socket, 'close').then(() => received) };
  }

  const head = (hash: string, ...more: string[]) =>
    [
      `PUT /v1/orgs/${tenant.organization.slug}/content/${hash} HTTP/1.1`,
      'Host: x',
      ...Object.entries(headers()).map(([name, value]) => `${name}: ${value}`),
      ...more,
      '',
      '',
    ].join('\r\n');

  /** Where what is looked at becomes true by somebody else's doing. */
  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error('waited in vain');
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('megabytes go in and out, declared or not, and are what they were', async () => {
    const bytes = randomBytes(6 * MEGABYTE);
    const hash = hashOf(bytes);
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
    };
    expect((await put(hash, ReadableStream.from(pieces()))).status).toBe(201);
    expect((await put(hash, bytes)).status).toBe(200);
    const answer = await fetch(urlOf(hash), { headers: headers() });
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    const digest = createHash('sha256');
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) digest.update(piece);
    expect(`sha256:${digest.digest('hex')}`).toBe(hash);
  });

  it('the bound is kept while a body comes that says no length, and who sent it is told', async () => {
    const endless = async function* () {
      for (let at = 0; at < 40; at += 1) yield new Uint8Array(MEGABYTE / 4);
    };
    const hash = hashOf(new Uint8Array(10 * MEGABYTE));
    const answer = await put(hash, ReadableStream.from(endless()));
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([413, 'PROTOCOL_VIOLATION']);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await uploadOf(hash)).toBeUndefined();
    expect(incoming()).toEqual([]);
  });

  it('who hangs up in the middle leaves neither bytes nor a reservation', async () => {
    const hash = hashOf(randomBytes(10));
    const { socket } = await peer(head(hash, `Content-Length: ${MEGABYTE}`));
    socket.write(new Uint8Array(1_000));
    await until(async () => incoming().length === 1 && (await uploadOf(hash))?.state === 'reserved');
    socket.destroy();
    await until(async () => incoming().length === 0 && (await uploadOf(hash)) === undefined);
  });

  it('a damaged content breaks the answer off before its end, and the log names it', async () => {
    const bytes = randomBytes(2 * MEGABYTE);
    const hash = hashOf(bytes);
    await put(hash, bytes);
    const [shelf, name] = [hash.slice(7, 9), hash.slice(9)];
    const owner = createHash('sha256').update(tenant.organization.organizationId).digest('hex');
    bytes.writeUInt8(bytes.readUInt8(77) ^ 1, 77);
    writeFileSync(join(folder, owner, shelf, name), bytes);
    const answer = await fetch(urlOf(hash), { headers: headers() });
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    const lines = api.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([
      { msg: 'a stored content is damaged', contentHash: hash },
    ]);
    // The next request is answered as ever.
    expect((await fetch(urlOf(hash), { method: 'HEAD', headers: headers() })).status).toBe(200);
  });

  it('who asks for many and reads none is told to wait; who has gone makes room', async () => {
    const bytes = randomBytes(6 * MEGABYTE);
    const hash = hashOf(bytes);
    await put(hash, bytes);
    const answers = await Promise.all(Array.from({ length: 16 }, () => fetch(urlOf(hash), { headers: headers() })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const refused = await fetch(urlOf(hash), { headers: headers() });
    const { code, details } = (await refused.json()) as { code: string; details: unknown };
    expect([refused.status, code, details]).toEqual([429, 'RATE_LIMITED', { limit: 'content_transfers' }]);
    for (const { body } of answers) await body?.cancel();
    await until(async () => {
      const { status, body } = await fetch(urlOf(hash), { headers: headers() });
      await body?.cancel();
      return status === 200;
    });
  });

  it('a content may take longer than other requests; a Command may not, nor who puts what it may not', async () => {
    const bytes = randomBytes(1_000);
    const slow = await peer(head(hashOf(bytes), 'Content-Length: 1000', 'Connection: close'));
    slow.socket.write(bytes.subarray(0, 500));
    const command = head('x', 'Content-Length: 1000')
      .replace(/^PUT \S+/, `POST /v1/orgs/${tenant.organization.slug}/commands`)
      .replace('application/octet-stream', 'application/json');
    const late = await peer(command);
    const stranger = await peer(head(hashOf(bytes), 'Content-Length: 1000').replace(/Bearer \S+/, 'Bearer x'));
    expect(await late.ended).toMatch(/^HTTP\/1\.1 408 /);
    expect(await stranger.ended).toMatch(/^HTTP\/1\.1 401 /);
    slow.socket.write(bytes.subarray(500));
    expect(await slow.ended).toMatch(/^HTTP\/1\.1 201 /);
  });
});
