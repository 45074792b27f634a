// Hundreds of peers that are slow, silent or half gone: other clients are served as before, no turn and no connection to the
// database is held for them, memory stays, and each is ended within the bounds of listen.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startService, type RunningService } from '../../src/main.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Operator } from '../../src/cli/demo/operator.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { leaseDatabase } from '../support/databases.ts';

const OPERATOR_TOKEN = 'an-operator-token-for-tests';
/** Of each sort; more than the 64 Commands and logins that are in hand at once. */
const PEERS = 80;
/** Milliseconds between the bytes of a peer that drips. */
const DRIP = 200;
const MEGABYTE = 1_048_576;

const commandHead = (token: string): string =>
  [
    'POST /v1/orgs/acme/commands HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    `Authorization: Bearer ${token}`,
  ].join('\r\n');
const LOGIN_HEAD = ['POST /v1/orgs/acme/auth/token HTTP/1.1', 'Host: x', 'Content-Type: application/json'].join('\r\n');

/** What each sort sends at first, and whether it goes on, reads, or ends its side. */
const SORTS = {
  silent: { first: () => '', drips: false, reads: true, ends: false },
  'half a head': { first: () => 'GET /healthz HTTP/1.1\r\nHost: ', drips: true, reads: true, ends: false },
  'half a login': {
    first: () => `${LOGIN_HEAD}\r\nContent-Length: 9999\r\n\r\n{`,
    drips: true,
    reads: true,
    ends: false,
  },
  'half a Command': {
    first: (token: string) => `${commandHead(token)}\r\nContent-Length: 99999\r\n\r\n{`,
    drips: true,
    reads: true,
    ends: false,
  },
  'half a chunk': {
    first: (token: string) => `${commandHead(token)}\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{`,
    drips: true,
    reads: true,
    ends: false,
  },
  'never reading': {
    first: (token: string) =>
      `GET /v1/orgs/acme/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(20),
    drips: false,
    reads: false,
    ends: false,
  },
  'half closed': { first: () => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', drips: false, reads: true, ends: true },
};
type Sort = keyof typeof SORTS;

class Peers {
  readonly left = new Map<Sort, Set<Socket>>();
  private readonly dripping: NodeJS.Timeout;

  constructor() {
    this.dripping = setInterval(() => this.drip(), DRIP);
  }

  async come(port: number, token: string): Promise<void> {
    for (const sort of Object.keys(SORTS) as Sort[]) {
      const sockets = Array.from({ length: PEERS }, () => this.one(port, sort, token));
      this.left.set(sort, new Set(sockets));
      await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    }
  }

  private one(port: number, sort: Sort, token: string): Socket {
    const { first, reads, ends } = SORTS[sort];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => this.left.get(sort)?.delete(socket));
    if (reads) socket.resume();
    socket.write(first(token));
    if (ends) socket.end();
    return socket;
  }

  private drip(): void {
    for (const [sort, sockets] of this.left) {
      if (SORTS[sort].drips) for (const socket of sockets) if (socket.writable) socket.write('x');
    }
  }

  async untilGone(sorts: Sort[], within: number): Promise<void> {
    const deadline = performance.now() + within;
    const count = () => sorts.reduce((sum, sort) => sum + (this.left.get(sort)?.size ?? 0), 0);
    while (count() > 0) {
      if (performance.now() > deadline)
        throw new Error(`${count()} of ${sorts.join(', ')} are still there after ${within} ms`);
      await delay(50);
    }
  }

  go(): void {
    clearInterval(this.dripping);
    for (const sockets of this.left.values()) for (const socket of sockets) socket.destroy();
  }
}

describe.each(['sqlite', 'postgres'] as const)('%s: slow peers', (engine) => {
  let folder: string;
  let service: RunningService;
  let giveBack: (() => void) | undefined;
  let olga: ActorKey;
  let client: AuthorityClient;
  let token: string;
  let log: string[];
  let peers: Peers;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-slow-'));
    const lease = engine === 'postgres' ? await leaseDatabase() : undefined;
    giveBack = lease?.giveBack;
    log = [];
    const logger = createLogger('warn', { write: (line) => void log.push(line) });
    const config = readConfig({
      MWP_DATA_DIR: folder,
      MWP_PORT: '0',
      MWP_OPERATOR_TOKEN: OPERATOR_TOKEN,
      MWP_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      MWP_DATABASE_POOL_SIZE: '2',
      ...(lease && { DATABASE_URL: lease.url }),
    });
    service = await startService(config, { logger });
    const operator = new Operator({ url: service.url, token: OPERATOR_TOKEN, signal: new AbortController().signal });
    await operator.createOrganization('acme', 'Acme Inc.');
    olga = generateActorKey({ type: 'human', id: 'urn:test:human:olga' });
    await operator.registerPrincipal('acme', olga, 'Olga');
    client = new AuthorityClient({ url: service.url, organization: 'acme', key: olga });
    const loggedIn = await client.logIn();
    if (!loggedIn.ok) throw new Error('no login');
    ({ token } = loggedIn.value);
    peers = new Peers();
  });
  afterEach(async () => {
    peers.go();
    await service.stop();
    giveBack?.();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Logins and refused Commands take turns and database connections; the median of some of each, in milliseconds. */
  async function serve(): Promise<number> {
    const times: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      const begun = performance.now();
      expect(await client.submitOnce(Buffer.from('{}'))).toMatchObject({
        problem: { code: 'SCHEMA_VALIDATION_FAILED' },
      });
      expect(await client.me()).toMatchObject({ ok: true });
      expect(await client.logIn()).toMatchObject({ ok: true });
      times.push(performance.now() - begun);
    }
    return times.sort((a, b) => a - b)[7] ?? 0;
  }

  it(
    `${Object.keys(SORTS).length * PEERS} of them slow down nobody, and take no memory`,
    { timeout: 60_000 },
    async () => {
      const alone = await serve();
      const before = process.memoryUsage().rss;
      await peers.come(Number(new URL(service.url).port), token);
      const among = await serve();
      expect(among).toBeLessThan(10 * alone + 200);
      await peers.untilGone(['half closed'], 5_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(100 * MEGABYTE);
      expect(log).toEqual([]);
    },
  );

  it.runIf(engine === 'sqlite')(
    'each is ended within its bound, and while it waits all others are served',
    { timeout: 60_000 },
    async () => {
      await peers.come(Number(new URL(service.url).port), token);
      // HEADERS_TIMEOUT and REQUEST_TIMEOUT, and the interval at which connections are looked at.
      await Promise.all([
        peers.untilGone(['silent', 'half a head'], 10_000 + 5_000),
        peers.untilGone(['half a login', 'half a Command', 'half a chunk'], 30_000 + 5_000),
        serve(),
      ]);
      await serve();
      expect(log).toEqual([]);
    },
  );
});
