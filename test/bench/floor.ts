// The process that writes the floor: the same rows by the same driver in one round trip, with no HTTP, no signature and no
// rule around them. What the service reaches is read as a share of it.
import { answerOrders } from './child.ts';
import { openPostgresFloor } from './floor-postgres.ts';
import type { FloorStream } from './floor-rows.ts';
import { openSqliteFloor } from './floor-sqlite.ts';
import { sqliteFile, type Place } from './places.ts';
import { Samples, type Figures } from './samples.ts';

export interface FloorOrder {
  place: Place;
  clients: number;
  /** 1: the hot Group. */
  streams: number;
  warmUpSeconds: number;
  seconds: number;
}

/** One connection. */
export interface FloorWriter {
  /** The same ones for all writers. */
  streams: FloorStream[];
  write: (stream: FloorStream) => Promise<void>;
  close: () => void;
}

answerOrders(async ({ place, clients, streams, warmUpSeconds, seconds }: FloorOrder): Promise<Figures> => {
  const writers =
    place.engine === 'sqlite'
      ? await openSqliteFloor(sqliteFile(place), streams)
      : await openPostgresFloor(place.address, streams, clients);
  const samples = new Samples();
  const begin = performance.now() + warmUpSeconds * 1_000;
  const end = begin + seconds * 1_000;
  samples.begin(begin);
  samples.end(end);
  const order = new Turns();
  await Promise.all(
    writers.map(async ({ streams: shared, write }, number) => {
      for (let turn = number; performance.now() < end; turn += writers.length) {
        const stream = shared[turn % shared.length] as FloorStream;
        await order.inTurn(stream, async () => {
          const from = performance.now();
          stream.position += 1;
          await write(stream);
          samples.add(from, performance.now());
        });
      }
    }),
  );
  for (const { close } of writers) close();
  return samples.figures();
});

/** One writer at a time for each stream, so that positions have no gap. */
class Turns {
  private readonly last = new Map<FloorStream, Promise<void>>();

  inTurn(stream: FloorStream, work: () => Promise<void>): Promise<void> {
    const mine = (this.last.get(stream) ?? Promise.resolve()).then(work);
    this.last.set(stream, mine);
    return mine;
  }
}
