// Bytes for a real connection that are almost HTTP: request lines, headers, lengths and chunks that lie, several requests
// in one go, and what is no HTTP at all.
import type { RawCase, World } from '../cases.ts';
import { mutatedBytes } from '../mutations.ts';
import type { Random } from '../random.ts';

const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 ', 'http/1.1', 'HTTP/1.11', 'ICY', ''];
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'get', 'G\0T', 'DELETE', '', 'QUERY'];
const HOSTS = [
  'Host: x',
  'Host: ',
  'Host: a b',
  'Host: x:99999',
  'Host: [::1',
  'Host: x/../y',
  'Host: é',
  'Host: x\r\nHost: y',
  'Host: @',
  'X: y',
];
const LENGTHS = [
  '0',
  '1',
  '7',
  '-1',
  '+5',
  '1e3',
  '0x10',
  '99999999999999999999',
  '1048577',
  '5, 5',
  '5, 6',
  ' 5',
  '5\r\nContent-Length: 6',
  '',
];
const CHUNKS = [
  '5\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello',
  'ffffffffffffffff\r\n',
  '-1\r\nx\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n',
  '0\r\n\r\n',
  'zz\r\n',
  '5\r\nhelloworld\r\n0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  `1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  '1\r\na\r\n'.repeat(3_000) + '0\r\n\r\n',
  `0\r\n${'T: x\r\n'.repeat(3_000)}\r\n`,
];
const ODD_LINES = [
  'Expect: 100-continue',
  'Expect: something',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  'Connection: close',
  'Connection: keep-alive, x',
  ' folded: x',
  'No colon',
  ': empty',
  'X-Nul: a\0b',
  'X-Bare: a\nb',
  'Sp ace: x',
  'X: \x7f',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Authorization: Bearer x',
  'X'.repeat(9_000) + ': y',
  `Long: ${'y'.repeat(17_000)}`,
  'Content-Type: application/json',
];
const NO_HTTP = [
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'EHLO x\r\n',
  '\0\0\0\0',
  '{"a":1}\n',
  '\r\n\r\n\r\n\r\n',
  'SSH-2.0-x\r\n',
  'GET',
  'GET /\r\n\r\n',
  '\xff'.repeat(200),
  'A'.repeat(70_000),
];

/** Connections per case: one. Requests on it: a few at most. */
export function rawBytes(random: Random, world: World): RawCase {
  const requests = random.chance(0.8) ? 1 : random.between(2, 20);
  const text = random.chance(0.1)
    ? random.pick(NO_HTTP)
    : Array.from({ length: requests }, () => request(random, world)).join('');
  const bytes = new Uint8Array(Buffer.from(text, 'latin1'));
  const changed = random.chance(0.25) ? mutatedBytes(bytes, random, bytes) : bytes;
  return { pieces: cut(changed, random) };
}

function cut(bytes: Uint8Array, random: Random): Uint8Array[] {
  if (random.chance(0.6)) return [bytes];
  const at = random.below(bytes.length + 1);
  return [bytes.slice(0, at), bytes.slice(at)];
}

function request(random: Random, { quiet, quietScene }: World): string {
  const isOdd = () => random.chance(0.3);
  const method = isOdd() ? random.pick(METHODS) : random.pick(['GET', 'POST']);
  const version = isOdd() ? random.pick(VERSIONS) : 'HTTP/1.1';
  const lines = [`${method} ${target(random, quiet.slug)} ${version}`, isOdd() ? random.pick(HOSTS) : 'Host: x'];
  if (random.chance(0.5)) lines.push(`Authorization: Bearer ${quiet.currentToken(quietScene.olga)}`);
  for (let odd = random.below(3); odd > 0; odd -= 1) lines.push(random.pick(ODD_LINES));
  if (random.chance(0.03)) lines.push(...Array.from({ length: 2_500 }, () => 'a: b'));
  let body = '';
  switch (random.below(4)) {
    case 0:
      body = random.pick(['', 'hello', '{}', '{"principal":1}']);
      lines.push(`Content-Length: ${isOdd() ? random.pick(LENGTHS) : body.length}`);
      break;
    case 1:
      lines.push('Transfer-Encoding: chunked');
      if (isOdd()) lines.push(`Content-Length: ${random.pick(LENGTHS)}`);
      body = random.pick(CHUNKS);
      break;
  }
  const end = random.chance(0.95) ? '\r\n' : random.pick(['\n', '\r', '\n\r', '']);
  return `${lines.join(end)}${end}${end}${body}`;
}

function target(random: Random, slug: string): string {
  return random.pick([
    '/healthz',
    `/v1/orgs/${slug}/me`,
    `/v1/orgs/${slug}/commands`,
    `/v1/orgs/${slug}/auth/challenge`,
    `/v1/orgs/${slug}/auth/token`,
    `http://x/v1/orgs/${slug}/me`,
    'http://[::1/',
    'https://user:password@elsewhere:1/healthz',
    '//healthz',
    '/../../healthz',
    '/v1\\orgs',
    '/%',
    '/%00',
    '/\x00',
    '/\xff\xfe',
    '/a b',
    '*',
    'x:443',
    '',
    '/?',
    `/${'a'.repeat(random.pick([8_000, 15_000, 17_000, 60_000]))}`,
    `/v1/orgs/${slug}/groups/${'%41'.repeat(2_000)}`,
    '/v1/orgs/é/me',
  ]);
}
