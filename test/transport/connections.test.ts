// Connections that do not behave: too slow, never reading, hung up, kept busy while the service stops.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { listen } from '../../src/http/listen.ts';
import { startService, type RunningService } from '../../src/main.ts';
import { createLogger } from '../../src/platform/logger.ts';

const CHALLENGE = ['POST /v1/orgs/acme/auth/challenge HTTP/1.1', 'Host: x', 'Content-Type: application/json'];

describe('connections', () => {
  let folder: string;
  let service: RunningService;
  let log: string[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-connections-'));
    log = [];
    const logger = createLogger('info', { write: (line) => void log.push(line) });
    service = await startService(readConfig({ MWP_DATA_DIR: folder, MWP_PORT: '0' }), { logger });
  });
  afterEach(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const port = () => Number(new URL(service.url).port);

  it('a client that keeps its connections busy loses no request to the stop', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const seen = { answered: 0, last: 0, lost: [] as string[] };
    const asking = Array.from({ length: 20 }, async () => {
      for (;;) {
        const end = await refusedLogin(port(), agent);
        if (end === 'ECONNREFUSED') return;
        if (end === 'answered') seen.answered += 1;
        else if (end === 'answered, the last') seen.last += 1;
        else seen.lost.push(end);
      }
    });
    await delay(300);
    const begun = performance.now();
    await service.stop();
    await Promise.all(asking);
    agent.destroy();
    expect(seen.lost).toEqual([]);
    expect(seen.answered).toBeGreaterThan(20);
    expect(seen.last).toBe(20);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  it.each([
    ['hangs up in the middle of a body', 'Content-Length: 100', '{'],
    ['hangs up in the middle of a chunked body', 'Transfer-Encoding: chunked', '1\r\n{\r\n'],
    ['sends a chunk that is none', 'Transfer-Encoding: chunked', '1\r\n{\r\nzz\r\n'],
  ])('whoever %s is no failure of the service', async (_what, framing, body) => {
    const socket = connect(port(), '127.0.0.1').on('error', () => undefined);
    socket.write([...CHALLENGE, framing, '', body].join('\r\n'));
    await delay(100);
    socket.destroy();
    await delay(100);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect(log.filter((line) => !line.includes('"level":30'))).toEqual([]);
  });

  it('a request whose head does not come is given up within the time for it', { timeout: 20_000 }, async () => {
    const socket = connect(port(), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    const ended = new Promise((resolve) => socket.on('close', resolve));
    const begun = performance.now();
    socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    await ended;
    expect(answer).toContain('408 Request Timeout');
    // A process that was held finds the time run out when it wakes: the sender must try again, and is told so.
    expect(answer).toContain('"retryable":true');
    expect(answer).toContain('Retry-After: 1');
    expect(performance.now() - begun).toBeLessThan(13_000);
  });

  it('whoever asks and never reads the answers holds no connection for ever, nor the stop', async () => {
    const large = () => new Response('a'.repeat(8 * 1_024 * 1_024));
    const server = await listen(large, { host: '127.0.0.1', port: 0, silenceMaximum: 300 });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.pause();
    const ended = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    await delay(1_500);
    socket.resume();
    await ended;
    expect(socket.bytesRead).toBeLessThan(20 * 8 * 1_024 * 1_024);
    const begun = performance.now();
    await server.close();
    expect(performance.now() - begun).toBeLessThan(1_000);
  });
});

/** A request that takes a tenth of a second, and how it ended. */
function refusedLogin(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const path = '/v1/orgs/acme/auth/token';
    const headers = { 'content-type': 'application/json' };
    const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, (response) => {
      response.resume();
      response.on('error', (error: NodeJS.ErrnoException) => resolve(`half: ${error.code}`));
      const isLast = response.headers.connection === 'close';
      response.on('end', () => resolve(response.statusCode === 403 && isLast ? 'answered, the last' : 'answered'));
    });
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    const principal = { type: 'human', id: 'urn:test:human:olga' };
    asked.end(JSON.stringify({ principal, challenge: 'AAAA', challengeSignature: 'AAAA' }));
  });
}
