// The network's side of the API: bounds of a connection, and a close that waits for whoever is being answered and for
// nobody else.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

/** Milliseconds for a request's head: who is slower holds a connection for nothing. */
const HEADERS_TIMEOUT = 10_000;
/** Milliseconds for a whole request; the largest body is 1 MiB. */
const REQUEST_TIMEOUT = 30_000;
/** Milliseconds that an idle connection is kept; longer than the usual proxy keeps it, so that the proxy closes first. */
const KEEP_ALIVE_TIMEOUT = 75_000;
/** Bytes of a request's head: two ids in a path, percent-encoded, and a token are below 8 kB. */
const HEADER_BYTES_MAXIMUM = 16 * 1_024;
/** Connections of one process at once; beyond it, new ones are closed. */
const CONNECTIONS_MAXIMUM = 10_000;
/** Milliseconds for requests under way at the close; below the lifecycle's own bound, so that the store closes after. */
const DRAIN_MAXIMUM = 5_000;

export interface Listening {
  /** `http://host:port`, the port that was really bound. */
  url: string;
  /** Takes no more, answers what is under way, then ends every connection. Safe to call twice. */
  close: () => Promise<void>;
}

/** Rejects with the system's error when it cannot listen there. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch,
    serverOptions: {
      headersTimeout: HEADERS_TIMEOUT,
      requestTimeout: REQUEST_TIMEOUT,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      maxHeaderSize: HEADER_BYTES_MAXIMUM,
    },
  }) as Server;
  server.maxConnections = CONNECTIONS_MAXIMUM;
  const underWay = new Requests(server);
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

async function close(server: Server, underWay: Requests): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await underWay.none(DRAIN_MAXIMUM);
  // Also those that only hold a connection open, with half a request or none.
  server.closeAllConnections();
  await closed;
}

/** Requests whose head has come and whose answer has not gone out whole. */
class Requests {
  private count = 0;
  private resolve: (() => void) | undefined;

  constructor(server: Server) {
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.count += 1;
      response.once('close', () => {
        this.count -= 1;
        if (this.count === 0) this.resolve?.();
      });
    });
  }

  /** Resolves when there are none, or after so many milliseconds. */
  none(milliseconds: number): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.resolve = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
