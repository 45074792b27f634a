// Sends pieces over a connection of its own, ends its side, and reads what comes until the server ends the other one.
import { connect } from 'node:net';

export interface Heard {
  answers: RawAnswer[];
  /** What came and is no answer. */
  rest: string;
  /** Did the server end the connection by itself, in time? */
  ended: boolean;
}

export interface RawAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: string;
}

/** Milliseconds. Our side is ended at once, so nothing is left to wait for but the answers. */
const END_MAXIMUM = 10_000;

export function converse(port: number, pieces: readonly Uint8Array[]): Promise<Heard> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const finish = (ended: boolean) => {
      clearTimeout(late);
      socket.destroy();
      resolve({ ...readAnswers(Buffer.concat(chunks).toString('latin1')), ended });
    };
    const late = setTimeout(() => finish(false), END_MAXIMUM);
    socket.on('data', (chunk) => void chunks.push(chunk));
    socket.on('close', () => finish(true));
    socket.on('error', () => undefined); // a reset is an end as well
    socket.on('connect', () => {
      socket.setNoDelay(true);
      for (const piece of pieces) socket.write(piece);
      socket.end();
    });
  });
}

function readAnswers(text: string): Pick<Heard, 'answers' | 'rest'> {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(rest)?.[1];
    if (end < 0 || status === undefined) return { answers, rest };
    const headers = rest
      .slice(0, end)
      .split('\r\n')
      .slice(1)
      .map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      });
    rest = rest.slice(end + 4);
    // 100 Continue has no body; what we asked for with HEAD has none either, whatever its length says.
    const length = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? 0);
    const isChunked = headers.some(([name, value]) => name === 'transfer-encoding' && value === 'chunked');
    const hasBody = !rest.startsWith('HTTP/1.1 ') && rest !== '';
    const body = hasBody ? (isChunked ? unchunked(rest) : rest.slice(0, length)) : '';
    if (hasBody) rest = isChunked ? afterChunks(rest) : rest.slice(length);
    answers.push({ status: Number(status), headers, body: Buffer.from(body, 'latin1').toString('utf8') });
  }
}

function unchunked(text: string): string {
  let body = '';
  for (let rest = text; ;) {
    const end = rest.indexOf('\r\n');
    const size = parseInt(rest.slice(0, end), 16);
    if (end < 0 || !(size > 0)) return body;
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 4 + size);
  }
}

function afterChunks(text: string): string {
  const end = text.indexOf('0\r\n\r\n');
  return end < 0 ? '' : text.slice(end + 5);
}
