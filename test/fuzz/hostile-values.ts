// What careless code trips over: as JSON values, as JSON texts that no value can spell, and as timestamps.
import type { Random } from './random.ts';

const spelled = (text: string): unknown => JSON.parse(text);
const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'then', 'toJSON'];
const MEMBERS = [
  'extensions',
  'constraints',
  'contentSalt',
  'workItemId',
  'groupId',
  'signature',
  'actor',
  'extra',
  '',
];

const TIMESTAMPS = [
  '2026-11-29T12:00:00Z',
  '2026-11-29t12:00:00z',
  '2026-11-29T12:00:00.000000000000000001Z',
  '2026-11-29 12:00:00Z',
  '2026-11-29T12:00:00',
  '2026-11-29T24:00:00Z',
  '2026-11-29T23:59:60Z',
  '2016-12-31T23:59:60Z',
  '2026-02-30T12:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59.999999999-23:59',
  '+010000-01-01T00:00:00Z',
  '2026-11-29T12:00:00+24:00',
  '2026-11-29T12:00:00-00:00',
  '２０２６-11-29T12:00:00Z',
  'Sun, 29 Nov 2026 12:00:00 GMT',
  `2026-11-29T12:00:00.${'9'.repeat(10_000)}Z`,
];

const IDS = [
  'urn:x',
  'urn:',
  ':',
  'x',
  'http://',
  'http://[::1]:99999/',
  'urn:a b',
  'urn:é',
  'urn:%zz',
  'urn:%00',
  `urn:test:${'x'.repeat(503)}`,
  `urn:test:${'x'.repeat(504)}`,
  'javascript:alert(1)',
  'file:///etc/passwd',
  "urn:x:';DROP TABLE events;--",
  'urn:x\r\nSet-Cookie: a=b',
];

const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ufeff',
  '\u202e',
  '\u2028',
  '😀'.repeat(3),
  'sha256:',
  `sha256:${'f'.repeat(64)}`,
  `sha256:${'F'.repeat(64)}`,
  '1.0.0',
  '01.0.0',
  'P',
  'PT0S',
  'P99999999999Y',
  'EUR',
  'XXX',
  'A'.repeat(86),
  'AA==',
  '../../etc/passwd',
  '<script>',
  '${7*7}',
  '%s%n',
];

const NUMBERS = [0, -0, -1, 1, 1.5, 1e-7, 1e21, 1e300, 5e-324, 2 ** 31, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 0.1 + 0.2];

const SHAPES: readonly unknown[] = [
  {},
  [],
  [null],
  [[]],
  [{}],
  { commitment: `sha256:${'e'.repeat(64)}` },
  { toString: 1, valueOf: 1 },
  spelled('{"__proto__":{"polluted":true}}'),
  spelled('{"__proto__":null,"toString":null,"length":-1}'),
  spelled('{"constructor":{"prototype":{"polluted":true}}}'),
  { type: 'agent', id: 'urn:x' },
  { type: 'service', id: 'urn:x' },
];

/** Rare, because each is large. */
const LARGE: readonly (() => unknown)[] = [
  () => 'x'.repeat(100_001),
  () => '\\'.repeat(50_000),
  () => Array.from({ length: 10_000 }, (_, index) => `urn:test:${index}`),
  () => Array.from({ length: 20_000 }, () => 0),
  () => Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`m${index}`, index])),
  () => spelled(nested('[', ']', 40)),
];

const LARGE_SHARE = 0.01;

export function hostileValue(random: Random): unknown {
  if (random.chance(LARGE_SHARE)) return random.pick(LARGE)();
  switch (random.below(8)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
      return random.pick(NUMBERS);
    case 2:
      return random.pick(TEXTS);
    case 3:
      return random.pick(TIMESTAMPS);
    case 4:
      return random.pick(IDS);
    case 5:
      return structuredClone(random.pick(SHAPES));
    case 6:
      return random.text(random.below(40));
    default:
      return random.chance(0.5) ? random.below(2 ** 31) : random.fraction() * 10 ** random.between(-5, 20);
  }
}

export function hostileName(random: Random): string {
  return random.chance(0.5) ? random.pick(NAMES) : random.pick(MEMBERS);
}

export function hostileId(random: Random): string {
  return random.chance(0.8) ? random.pick(IDS) : random.text(random.between(1, 600));
}

/** JSON, or nearly, that JSON.stringify would never write. */
const RAW = [
  '1e400',
  '-1e400',
  '-0',
  '-0.0',
  '9007199254740993',
  '18446744073709551616',
  '1.0',
  '1E+2',
  '01',
  '+1',
  '.5',
  'NaN',
  'Infinity',
  'undefined',
  '0x10',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\x41"',
  "'a'",
  '{"a":1,"a":2}',
  '{"\\u0061":1,"a":2}',
  '{"__proto__":1,"__proto__":2}',
  '{a:1}',
  '[1,]',
  '[,1]',
  '{"a":1,}',
  '/* */ 1',
  '',
  '"',
  '{',
  ']',
];

/** MAX_JSON_DEPTH is 64; what stands around the nest adds a few. */
const DEPTHS = [10, 50, 60, 61, 62, 63, 64, 65, 66, 100, 2_000, 20_000];

export function rawJson(random: Random): string {
  if (random.chance(0.8)) return random.pick(RAW);
  const depth = random.pick(DEPTHS);
  return random.chance(0.5) ? nested('[', ']', depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}
