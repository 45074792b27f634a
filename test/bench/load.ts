// The process that makes the load: signs all Commands of a point first, then sends them over kept-alive connections, each
// client one after the other. Any answer but an acceptance ends the run, so nothing is counted that did not happen.
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOrders } from './child.ts';
import { Connection } from './connection.ts';
import { signedRequests, type Wanted } from './requests.ts';
import { Samples, type Figures } from './samples.ts';
import { cpuMilliseconds } from './serving.ts';
import type { World } from './world.ts';

export interface LoadOrder {
  world: World;
  /** Of the serving process. */
  pid: number;
  clients: number;
  /** Everybody in the first Group. */
  hot: boolean;
  warmUpSeconds: number;
  seconds: number;
  /** Commands to sign; with fewer than the service takes, the point ends early. */
  commands: number;
  /** Of the Commands; message.post with a long text unless told otherwise. */
  kind?: Wanted['kind'];
  textCharacters?: number;
}

export interface LoadFigures extends Figures {
  /** CPU time of the serving process. */
  cpuPerCommandMilliseconds: number;
  /** Warm-up included. */
  accepted: number;
}

answerOrders(async (order: LoadOrder): Promise<LoadFigures> => {
  const { world, clients, hot, warmUpSeconds, seconds } = order;
  const requests = signedRequests(world, hot ? world.groups.slice(0, 1) : world.groups, {
    count: order.commands,
    ...(order.kind !== undefined && { kind: order.kind }),
    ...(order.textCharacters !== undefined && { textCharacters: order.textCharacters }),
  });
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(world.url)));
  const samples = new Samples();
  let next = 0;
  let stopped = false;
  const client = async (connection: Connection) => {
    while (!stopped && next < requests.length) {
      const request = requests[next++] as Buffer;
      const from = performance.now();
      const { status, body } = await connection.send(request);
      if (status !== 200) throw new Error(`not accepted: ${status} ${body.toString()}`);
      samples.add(from, performance.now());
    }
  };
  const clientsDone = Promise.all(connections.map(client));
  clientsDone.catch(() => undefined);
  await Promise.race([sleep(warmUpSeconds * 1_000), clientsDone]);
  const cpuBefore = cpuMilliseconds(order.pid);
  samples.begin(performance.now());
  await Promise.race([sleep(seconds * 1_000), clientsDone]);
  samples.end(performance.now());
  const cpu = cpuMilliseconds(order.pid) - cpuBefore;
  stopped = true;
  await clientsDone;
  for (const connection of connections) connection.close();
  if (samples.count === 0) throw new Error('all Commands were sent before the warm-up was over');
  return { ...samples.figures(), cpuPerCommandMilliseconds: cpu / samples.count, accepted: next };
});
