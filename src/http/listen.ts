// The network's side of the API: bounds of a connection, and a close that waits for whoever is being answered and for
// nobody else.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { hasPatience } from './patience.ts';
import { refuseUnreadable, unreadableResponse } from './unreadable.ts';

/** Milliseconds for a request's head: who is slower holds a connection for nothing. */
const HEADERS_TIMEOUT = 10_000;
/** Milliseconds for a body after its head; the largest is 1 MiB. */
const REQUEST_TIMEOUT = 30_000;
/** Milliseconds for a whole request of which a handler knows that its body is larger (src/http/patience.ts). */
const UPLOAD_TIMEOUT = 600_000;
/** Milliseconds that an idle connection is kept; longer than the usual proxy keeps it, so that the proxy closes first. */
const KEEP_ALIVE_TIMEOUT = 75_000;
/**
 * Milliseconds between two looks at who is over these times: the platform's own 30 s would double them. A walk over the
 * connections that are in the middle of a request.
 */
const CHECKING_INTERVAL = 1_000;
/** Milliseconds without a byte either way; ends whoever asks and never reads the answer, above all of the other times. */
const SILENCE_MAXIMUM = 90_000;
/** Bytes of a request's head: two ids in a path, percent-encoded, and a token are below 8 kB. */
const HEADER_BYTES_MAXIMUM = 16 * 1_024;
/** Connections of one process at once; beyond it, new ones are closed. */
const CONNECTIONS_MAXIMUM = 10_000;
/** Milliseconds for requests under way at the close, so that the store closes after. */
const DRAIN_MAXIMUM = 5_000;

/**
 * Rounds of the loop at the close in which no connection came, before no more are taken. The platform takes one in a
 * round, so on a busy process there wait some, with whole requests in them, that would all be cut.
 */
const ROUNDS_WITHOUT_CONNECTION = 5;
/** Milliseconds at the close for those; with DRAIN_MAXIMUM still below the lifecycle's bound. */
const TAKING_MAXIMUM = 2_500;
/**
 * At the close, for a request that was sent before its client could know of it: milliseconds for its way, in steps, so
 * that what has come is read as often, however busy the process is.
 */
const STRAGGLERS_STEP = 25;
const STRAGGLERS_STEPS = 10;

export interface Listening {
  /** `http://host:port`, the port that was really bound. */
  url: string;
  /** Takes no more, answers what is under way, then ends every connection. Safe to call twice. */
  close: () => Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Milliseconds, instead of the service's own: for tests that cannot wait so long. */
  silenceMaximum?: number;
  requestTimeout?: number;
}

/** Rejects with the system's error when it cannot listen there. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port, silenceMaximum = SILENCE_MAXIMUM, requestTimeout = REQUEST_TIMEOUT }: ListenOptions,
): Promise<Listening> {
  const answer = getRequestListener(fetch, { errorHandler: unreadableResponse });
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT,
      requestTimeout: UPLOAD_TIMEOUT,
      connectionsCheckingInterval: CHECKING_INTERVAL,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      maxHeaderSize: HEADER_BYTES_MAXIMUM,
      // The adapter misses it as well, and then we have a word to say.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void answer(incoming, outgoing),
  );
  server.maxConnections = CONNECTIONS_MAXIMUM;
  server.timeout = silenceMaximum;
  const underWay = new Requests(server);
  const watch = setInterval(() => refuseLate(server, underWay.lateBy(requestTimeout)), CHECKING_INTERVAL).unref();
  server.once('close', () => clearInterval(watch));
  refuseUnreadable(server, (connection) => underWay.answersOn(connection));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => (closing ??= close(server, underWay)),
  };
}

/** As the platform does with who is over its own time. */
function refuseLate(server: Server, connections: readonly Socket[]): void {
  for (const connection of connections) {
    const late = Object.assign(new Error('the body is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', late, connection);
  }
}

async function close(server: Server, underWay: Requests): Promise<void> {
  // Before anybody is sent away: who is comes back with a new connection while there is somebody listening.
  await takeWaiting(server);
  // Not the HTTP server's own close: that cuts whoever seems idle at once, with a request perhaps already on its way.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  underWay.endConnections();
  const isLate = delay(DRAIN_MAXIMUM, undefined, { ref: false });
  await Promise.race([isLate, underWay.quiet()]);
  server.close();
  // Also those that only hold a connection open, with half a request or none.
  server.closeAllConnections();
  await closed;
}

async function takeWaiting(server: Server): Promise<void> {
  let rounds = 0;
  const came = () => void (rounds = 0);
  server.on('connection', came);
  for (const begun = performance.now(); rounds < ROUNDS_WITHOUT_CONNECTION; rounds += 1) {
    if (performance.now() - begun > TAKING_MAXIMUM) break;
    await turn();
  }
  server.off('connection', came);
}

/** Requests whose head has come and whose answer has not gone out whole. */
class Requests {
  /** With the time at which the head had come. */
  private readonly ofConnections = new Map<Socket, Map<ServerResponse, number>>();
  private count = 0;
  private areLast = false;
  private resolve: (() => void) | undefined;

  constructor(server: Server) {
    server.on('connection', (connection: Socket) => {
      this.ofConnections.set(connection, new Map());
      // Answers that wait behind another one on a connection hear nothing of its end.
      connection.once('close', () => {
        for (const answer of this.ofConnections.get(connection)?.keys() ?? []) this.ended(connection, answer);
        this.ofConnections.delete(connection);
      });
    });
    server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
      this.ofConnections.get(socket)?.set(answer, performance.now());
      this.count += 1;
      if (this.areLast) answer.shouldKeepAlive = false;
      answer.once('close', () => this.ended(socket, answer));
    });
  }

  /** In the order of their requests. */
  answersOn(connection: unknown): readonly ServerResponse[] {
    return [...(this.ofConnections.get(connection as Socket)?.keys() ?? [])];
  }

  /** Connections with a body that is still to come after so many milliseconds, and that nobody has patience with. */
  lateBy(milliseconds: number): Socket[] {
    const before = performance.now() - milliseconds;
    const isLate = ([{ req }, began]: [ServerResponse, number]) => began < before && !req.complete && !hasPatience(req);
    return [...this.ofConnections].filter(([, answers]) => [...answers].some(isLate)).map(([connection]) => connection);
  }

  /**
   * From now on every answer says that it is the last on its connection, so that a client which keeps one busy goes
   * elsewhere and has no request under way when the end comes.
   */
  endConnections(): void {
    this.areLast = true;
    for (const answers of this.ofConnections.values()) {
      for (const answer of answers.keys()) answer.shouldKeepAlive = false;
    }
  }

  /** Resolves when there are none, and none came for a moment from those who are still connected. */
  async quiet(): Promise<void> {
    do {
      if (this.count > 0) await new Promise<void>((resolve) => (this.resolve = resolve));
      for (let step = 0; step < STRAGGLERS_STEPS && this.count === 0 && this.ofConnections.size > 0; step += 1) {
        await delay(STRAGGLERS_STEP);
        await turn(); // what has come in the meantime is read first
      }
    } while (this.count > 0);
  }

  private ended(connection: Socket, answer: ServerResponse): void {
    if (!this.ofConnections.get(connection)?.delete(answer)) return;
    this.count -= 1;
    if (this.count === 0) this.resolve?.();
  }
}
