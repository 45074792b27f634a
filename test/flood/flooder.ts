// The process of the tenant that floods: many connections, each asking again as soon as it has its answer; a little below
// the others' priority, so that it is the service that is tried and not the scheduler of two shared cores.
import { getPriority, setPriority } from 'node:os';
import { answerOrders } from '../bench/child.ts';
import { Connection } from '../bench/connection.ts';
import type { World } from '../bench/world.ts';
import { flood, type FloodKind } from './traffic.ts';

export interface FloodOrder {
  world: World;
  seconds: number;
  /** Connections of each kind. */
  connections: Record<FloodKind, number>;
  /** Distinct requests of each kind; they are sent over and over. */
  distinct: number;
}

/** Answers by kind and status. */
export type FloodFigures = Record<string, number>;

let prepared: Map<FloodKind, { requests: Buffer[]; next: number }> | undefined;

setPriority(Math.min(19, getPriority() + 5));

answerOrders(async ({ world, seconds, connections, distinct }: FloodOrder): Promise<FloodFigures> => {
  const kinds = Object.keys(connections) as FloodKind[];
  prepared ??= new Map(kinds.map((kind) => [kind, { requests: flood(kind, world, distinct), next: 0 }]));
  if (seconds === 0) return {};
  const figures: FloodFigures = {};
  const end = performance.now() + seconds * 1_000;
  const client = async (kind: FloodKind) => {
    let connection = await Connection.open(world.url);
    const supply = prepared?.get(kind);
    while (supply && performance.now() < end) {
      const { status } = await connection
        .send(supply.requests[supply.next++ % supply.requests.length]!)
        .catch(() => ({ status: 0 })); // the service ended the connection
      const name = `${kind} ${status}`;
      figures[name] = (figures[name] ?? 0) + 1;
      if (status === 0) connection = await Connection.open(world.url);
    }
    connection.close();
  };
  await Promise.all(kinds.flatMap((kind) => Array.from({ length: connections[kind] }, () => client(kind))));
  return figures;
});
