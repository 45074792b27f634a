// What never becomes a request of ours is refused with the error document as well, and its connection ends.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, type Listening } from '../../src/http/listen.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';

const HOST = 'Host: x';

/** All that comes back until the server ends the connection. */
function answerTo(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('utf8')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    socket.write(Buffer.from(text, 'latin1'));
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

const lines = (...all: string[]): string => [...all, '', ''].join('\r\n');

const REFUSED: [what: string, status: number, message: RegExp, text: string][] = [
  ['a greeting of TLS', 400, /no request of HTTP/, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['the preface of HTTP/2', 400, /no request of HTTP/, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a blank in the path', 400, /no request of HTTP/, lines('GET /a b HTTP/1.1', HOST)],
  [
    'two lengths of one body',
    400,
    /no request of HTTP/,
    lines('POST / HTTP/1.1', HOST, 'Content-Length: 5', 'Content-Length: 6'),
  ],
  [
    'a length and chunks',
    400,
    /no request of HTTP/,
    lines('POST / HTTP/1.1', HOST, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
  ],
  [
    'a chunk of no length',
    400,
    /no request of HTTP/,
    `${lines('POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked')}zz\r\n`,
  ],
  ['a head of more than 16 KiB', 431, /head of the request/, lines('GET / HTTP/1.1', HOST, `X: ${'x'.repeat(17_000)}`)],
  ['a path of more than 16 KiB', 431, /head of the request/, lines(`GET /${'x'.repeat(17_000)} HTTP/1.1`, HOST)],
  [
    'chunk extensions without end',
    413,
    /chunk/,
    `${lines('POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked')}1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  ],
  ['no Host', 400, /Host/, lines('GET / HTTP/1.1', 'Connection: close')],
  ['a Host that is none', 400, /Host or path/, lines('GET / HTTP/1.1', 'Host: [::1', 'Connection: close')],
  ['a backslash in the path', 400, /Host or path/, lines('GET /v1\\orgs HTTP/1.1', HOST, 'Connection: close')],
  [
    'an expectation that nobody meets',
    417,
    /Expect/,
    lines('GET / HTTP/1.1', HOST, 'Expect: a wonder', 'Connection: close'),
  ],
  ['a tunnel', 404, /tunnel/, lines('CONNECT x:443 HTTP/1.1', HOST)],
];

describe('what is no request', () => {
  let server: Listening;
  let port: number;
  let release: (() => void) | undefined;
  /** In a function of its own: tsc would take an assignment on the way for the last word. */
  const forget = () => {
    release = undefined;
  };

  beforeAll(async () => {
    const slowly = async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return new Response('whole');
    };
    const fetch = async (request: Request) => {
      if (request.url.endsWith('/slow')) return slowly();
      await request.arrayBuffer();
      return new Response('fine');
    };
    server = await listen(fetch, { host: '127.0.0.1', port: 0 });
    port = Number(new URL(server.url).port);
  });
  afterAll(() => server.close());

  it.each(REFUSED)(
    'MWP-EXT-004a: %s is a %i with an error document, and the end',
    async (_what, status, message, text) => {
      const answer = await answerTo(port, text);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n');
      expect(answer.toLowerCase()).toContain('\r\ncontent-type: application/json\r\n');
      const check = checkDocument('error', JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)));
      if (!check.valid) throw new Error(check.fault);
      expect(check.document).toMatchObject({ code: 'PROTOCOL_VIOLATION', retryable: false });
      expect(check.document.message).toMatch(message);
    },
  );

  it('a request of HTTP/1.1 just within its bounds is served', async () => {
    const answer = await answerTo(
      port,
      lines(`GET /${'x'.repeat(7_000)} HTTP/1.1`, HOST, `X: ${'x'.repeat(8_000)}`, 'Connection: close'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*fine$/);
  });

  it('an answer that is under way is not broken into by what comes after it on the connection', async () => {
    const pending = answerTo(port, `${lines('GET / HTTP/1.1', HOST)}nonsense\r\n\r\n`);
    expect(await pending).toMatch(/^HTTP\/1\.1 (200|400) /);
    const slow = answerTo(port, `${lines('GET /slow HTTP/1.1', HOST)}nonsense\r\n\r\n`);
    await until(() => release !== undefined);
    release?.();
    expect(await slow).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nwhole$/);
  });

  it('MWP-EXT-004a: a tunnel is refused after the answers that its connection still waits for', async () => {
    forget();
    const pending = answerTo(port, lines('GET /slow HTTP/1.1', HOST) + lines('CONNECT x:443 HTTP/1.1', HOST));
    await until(() => release !== undefined);
    release?.();
    expect(await pending).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nwhole$/);
  });

  it('MWP-EXT-004a: a tunnel asked for on a connection that has had its last answer is not answered', async () => {
    const refused = lines('GET / HTTP/1.1', 'Connection: close');
    expect(await answerTo(port, refused + lines('CONNECT x:443 HTTP/1.1', HOST))).toMatch(/^HTTP\/1\.1 400 /);
    const unexpected = lines('GET / HTTP/1.1', HOST, 'Expect: a wonder', 'Connection: close');
    expect(await answerTo(port, unexpected + lines('CONNECT x:443 HTTP/1.1', HOST))).toMatch(/^HTTP\/1\.1 417 /);
  });

  it('MWP-EXT-004a: who asks for a tunnel and cuts the connection ends nothing but it', async () => {
    for (let count = 0; count < 50; count += 1) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(lines('CONNECT x:443 HTTP/1.1', HOST) + 'x'.repeat(count * 1_000));
      if (count % 2 === 0) await turn();
      socket.resetAndDestroy();
    }
    expect(await answerTo(port, lines('GET / HTTP/1.1', HOST, 'Connection: close'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});
