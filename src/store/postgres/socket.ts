// The socket under a connection. postgres.js would make its own; this one sends small writes at once, takes a large write
// without asking for a pause, and can hold several statements back until they leave together: one round trip.
import net from 'node:net';

export const CONNECT_TIMEOUT_MS = 10_000;
/** Above the largest transition, or postgres.js would wait for the answer to it before it sends the COMMIT. */
const HIGH_WATER_MARK_BYTES = 4 * 1024 * 1024;

export interface Address {
  host: string | string[];
  port: number | number[];
  /** Of a Unix socket. */
  path?: string | false | undefined;
}

export async function connectSocket({ host, port, path }: Address): Promise<net.Socket> {
  if (path) return connect({ path }, undefined);
  const hosts = [host].flat();
  const ports = [port].flat();
  let last: unknown;
  for (const [position, name] of hosts.entries()) {
    try {
      return await connect({ host: name, port: ports[position] ?? ports[0] ?? 5432 }, name);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function connect(
  options: net.TcpNetConnectOpts | net.IpcNetConnectOpts,
  host: string | undefined,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = new net.Socket({ writableHighWaterMark: HIGH_WATER_MARK_BYTES } as net.SocketConstructorOpts);
    const giveUp = setTimeout(() => {
      socket.destroy(Object.assign(new Error('the database did not answer in time'), { code: 'CONNECT_TIMEOUT' }));
    }, CONNECT_TIMEOUT_MS);
    socket.once('error', (error) => {
      clearTimeout(giveUp);
      reject(error);
    });
    socket.connect(options, () => {
      clearTimeout(giveUp);
      socket.removeAllListeners('error');
      socket.setNoDelay(true);
      // postgres.js names the server to TLS by this member.
      resolve(Object.assign(socket, { host }));
    });
  });
}
