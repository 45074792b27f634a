// The stop as clients see it: what was asked is answered or never happened, and whoever heeds readiness loses nothing.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newPlace, Serving, SLUG, type Place } from '../support/serving.ts';
import type { SignedCommand } from '../../src/worker/commands.ts';

const CLIENTS = 30;

interface Sent {
  command: SignedCommand;
  /** The status, or the network's own word. */
  end: number | string;
  isLast: boolean;
}

describe('a service that is told to stop while it is busy', { timeout: 60_000 }, () => {
  let place: Place;
  let serving: Serving;
  beforeEach(async () => {
    place = await newPlace('sqlite');
    serving = await Serving.start({ ...place.environment, MWP_LOG_LEVEL: 'silent' });
    await serving.people();
  });
  afterEach(async () => {
    await serving.service.stop();
    place.giveBack();
  });

  /** Sends Commands one after the other until `goesOn` says no or nobody listens any more. */
  async function ask(agent: Agent, sent: Sent[], goesOn = () => true): Promise<void> {
    const token = await serving.tokenOf(serving.olga);
    while (goesOn()) {
      const one = await post(new URL(serving.url), token, serving.creation(), agent);
      if (one.end === 'ECONNREFUSED') return;
      sent.push(one);
    }
  }

  /** In a service of the same folder: which of them were processed although nobody was answered. */
  async function processed(lost: Sent[]): Promise<string[]> {
    const again = await Serving.start({ ...place.environment, MWP_LOG_LEVEL: 'silent' }, serving);
    try {
      const client = again.client(again.olga);
      await client.logIn();
      const found: string[] = [];
      for (const { command } of lost) {
        const receipt = await client.read(`/receipts/${encodeURIComponent(command.actionId)}`);
        if (receipt.ok) found.push(command.actionId);
        else if (receipt.problem.kind !== 'refused') throw new Error(JSON.stringify(receipt.problem));
      }
      return found;
    } finally {
      await again.service.stop();
    }
  }

  it('answers every Command on a connection that is kept, and says that the answer is the last', async () => {
    const sent: Sent[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const asking = Array.from({ length: CLIENTS }, () => ask(agent, sent));
    while (sent.length < 2 * CLIENTS) await turn();
    await serving.service.stop();
    await Promise.all(asking);
    agent.destroy();
    expect(sent.flatMap(({ end }) => (end === 200 ? [] : [end]))).toEqual([]);
    expect(sent.filter(({ isLast }) => isLast).length).toBeGreaterThanOrEqual(CLIENTS);
  });

  it('answers those whose connection waits to be taken when the signal comes', async () => {
    const { port, hostname } = new URL(serving.url);
    const sockets = Array.from({ length: CLIENTS }, () => connect(Number(port), hostname));
    // Connected is what the system says; the process has taken one of them, or two.
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const answers = sockets.map(async (socket) => {
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'close').catch((error: NodeJS.ErrnoException) => (answer += error.code));
      return answer.split('\r\n')[0];
    });
    await serving.service.stop();
    expect(await Promise.all(answers)).toEqual(sockets.map(() => 'HTTP/1.1 200 OK'));
  });

  it('never processes a Command whose new connection it did not take any more', async () => {
    const sent: Sent[] = [];
    const asking = Array.from({ length: CLIENTS }, () => ask(new Agent({ keepAlive: false }), sent));
    while (sent.length < 2 * CLIENTS) await turn();
    await serving.service.stop();
    await Promise.all(asking);
    const lost = sent.filter(({ end }) => end !== 200);
    expect(await processed(lost)).toEqual([]);
  });

  it('loses nothing of who heeds readiness: it says no while connections are still taken, for MWP_DRAIN_DELAY', async () => {
    await serving.service.stop();
    serving = await Serving.start({ ...place.environment, MWP_LOG_LEVEL: 'silent', MWP_DRAIN_DELAY: '1500' }, serving);
    const ready = async () => (await fetch(`${serving.url}/readyz`)).status;
    const sent: Sent[] = [];
    let seen = await ready();
    expect(seen).toBe(200);
    const agents = Array.from({ length: 5 }, () => new Agent({ keepAlive: false }));
    const asking = agents.map((agent) => ask(agent, sent, () => seen === 200));
    while (sent.length < 5) await turn();
    const begun = performance.now();
    const stopped = serving.service.stop();
    while (seen === 200) seen = await ready();
    const noticed = sent.length;
    await Promise.all(asking);
    expect(seen).toBe(503);
    expect(sent.flatMap(({ end }) => (end === 200 ? [] : [end]))).toEqual([]);
    expect(sent.length).toBeGreaterThan(noticed);
    await stopped;
    expect(performance.now() - begun).toBeGreaterThanOrEqual(1_500);
  });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

function post({ hostname, port }: URL, token: string, command: SignedCommand, agent: Agent): Promise<Sent> {
  return new Promise((resolve) => {
    const ended = (end: number | string, isLast = false) => resolve({ command, end, isLast });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const options = { hostname, port, path: `/v1/orgs/${SLUG}/commands`, method: 'POST', headers, agent };
    const asked = request({ ...options }, (response) => {
      response.resume();
      response.on('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.message));
      response.on('end', () => ended(response.statusCode ?? 0, response.headers.connection === 'close'));
    });
    asked.on('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.message));
    asked.end(command.bytes);
  });
}
