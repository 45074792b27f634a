// A wire between a store and its PostgreSQL that counts round trips and can be cut at a chosen moment.
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export interface Wire {
  /** The same database, through the wire. */
  url: string;
  /** Times that the client sent something after it had heard from the server, over all connections. */
  roundTrips(): number;
  /** Cuts the connection on which the client next sends `text`: before the server hears it, or when it has answered. */
  cutAt(text: string, when: 'before' | 'after'): void;
  /** Cuts everything when so many more pieces have passed, in whichever direction. */
  cutAfter(pieces: number): void;
  /** Cuts every connection now. */
  cut(): void;
  /** From now on nothing passes in either direction, and nobody is told: new connections are taken, too. */
  mute(): void;
  close(): Promise<void>;
}

export async function openWire(url: string): Promise<Wire> {
  const target = new URL(url);
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let trips = 0;
  let piecesLeft = Infinity;
  let muted = false;
  let trap: { text: string; when: 'before' | 'after' } | undefined;

  const cutAll = () => [...pairs].forEach(({ client, server }) => (client.destroy(), server.destroy()));
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const pair = { client, server };
    let lastSpoke: 'client' | 'server' = 'server';
    let cutOnAnswer = false;
    const cut = () => {
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    pairs.add(pair);
    const passed = () => {
      piecesLeft -= 1;
      if (piecesLeft <= 0) cutAll();
    };
    client.on('data', (chunk) => {
      if (muted) return;
      if (lastSpoke === 'server') trips += 1;
      lastSpoke = 'client';
      if (trap !== undefined && chunk.includes(trap.text)) {
        const { when } = trap;
        trap = undefined;
        if (when === 'before') return cut();
        cutOnAnswer = true;
      }
      server.write(chunk);
      passed();
    });
    server.on('data', (chunk) => {
      if (muted) return;
      lastSpoke = 'server';
      // A transaction that ended says so: ReadyForQuery, idle.
      if (cutOnAnswer && chunk.includes(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))) return cut();
      if (!cutOnAnswer) client.write(chunk);
      passed();
    });
    for (const socket of [client, server]) socket.on('error', cut).on('close', cut);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.href,
    roundTrips: () => trips,
    cutAt: (text, when) => void (trap = { text, when }),
    cutAfter: (pieces) => void (piecesLeft = pieces),
    cut: cutAll,
    mute: () => void (muted = true),
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        cutAll();
      }),
  };
}
