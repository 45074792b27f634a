// The process of the tenant that works as always: Commands and reads at a steady pace, whether they are answered or not,
// so that a slow answer does not make it ask less.
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOrders } from '../bench/child.ts';
import { Connection } from '../bench/connection.ts';
import { Samples } from '../bench/samples.ts';
import type { World } from '../bench/world.ts';
import { reads, signedRequests } from './traffic.ts';

export interface SteadyOrder {
  world: World;
  seconds: number;
  commandsPerSecond: number;
  readsPerSecond: number;
}

export interface Pace {
  p50: number;
  p99: number;
  answered: number;
  asked: number;
}

export interface SteadyFigures {
  commands: Pace;
  reads: Pace;
}

/** Enough that one is free when the pace says so, also with answers of a second. */
const CONNECTIONS = 24;

let connections: Connection[] | undefined;

answerOrders(async (order: SteadyOrder): Promise<SteadyFigures> => {
  const { world, seconds, commandsPerSecond, readsPerSecond } = order;
  connections ??= await Promise.all(Array.from({ length: 2 * CONNECTIONS }, () => Connection.open(world.url)));
  const writing = signedRequests(world, world.groups, { count: Math.ceil(seconds * commandsPerSecond) });
  const reading = reads(world, Math.ceil(seconds * readsPerSecond));
  const [commands, asked] = await Promise.all([
    paced(world.url, writing, commandsPerSecond, connections.slice(0, CONNECTIONS)),
    paced(world.url, reading, readsPerSecond, connections.slice(CONNECTIONS)),
  ]);
  return { commands, reads: asked };
});

async function paced(url: string, requests: Buffer[], perSecond: number, free: Connection[]): Promise<Pace> {
  const samples = new Samples();
  const begun = performance.now();
  samples.begin(begun);
  const underWay: Promise<void>[] = [];
  const ask = async (request: Buffer, due: number) => {
    let connection = free.pop();
    if (!connection) return; // not asked, and seen in the figures
    // The service lets go of who is idle, perhaps at this moment: then once more, as every client does.
    const again = async () => (connection = await Connection.open(url)).send(request);
    const { status, body } = await connection.send(request).catch(again);
    if (status !== 200) throw new Error(`the quiet tenant was refused: ${status} ${body.toString()}`);
    samples.add(due, performance.now());
    free.push(connection);
  };
  for (const [at, request] of requests.entries()) {
    const due = begun + (at * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    underWay.push(ask(request, Math.max(due, performance.now())));
  }
  await Promise.all(underWay);
  samples.end(performance.now());
  const { p50Milliseconds, p99Milliseconds } = samples.figures();
  return { p50: p50Milliseconds, p99: p99Milliseconds, answered: samples.count, asked: requests.length };
}
