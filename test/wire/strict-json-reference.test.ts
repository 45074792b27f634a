// The strict reader against a grammar written apart from it. What is random names its seed and the number of the case
// in a failure; STRICT_JSON_SEED brings a run back.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mutatedBytes, respelled } from '../fuzz/mutations.ts';
import { Random } from '../fuzz/random.ts';
import { compareAll, compareReaders } from './json-disagreement.ts';
import { sequences, TEXTS } from './json-texts.ts';
import { randomJsonText } from './random-json.ts';

const SEED = Number(process.env['STRICT_JSON_SEED'] ?? randomInt(2 ** 31));
const SHALLOW = { maxDepth: 5 };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Nothing to disagree about in so many cases, among which each of the verdicts came up often enough to mean something. */
function expectAgreement(cases: number, verdicts: readonly string[], make: (random: Random) => Uint8Array | string) {
  const seen = new Map<string, number>();
  const disagreements: string[] = [];
  for (let number = 0; number < cases; number += 1) {
    const { verdict, disagreement } = compareReaders(make(new Random(SEED, number)), SHALLOW);
    seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
    if (disagreement !== undefined) disagreements.push(`seed ${SEED}, case ${number}: ${disagreement}`);
  }
  expect(disagreements.slice(0, 5)).toEqual([]);
  for (const verdict of verdicts) expect(seen.get(verdict) ?? 0, `${verdict}, seed ${SEED}`).toBeGreaterThan(20);
}

const OF_TEXTS = ['accepted', 'too-deep', 'invalid-json', 'duplicate-member'];
const OF_THE_DATA_MODEL = ['number-outside-binary64', 'lone-surrogate'];

describe('the strict reader and the reference grammar', () => {
  it.each(Object.keys(TEXTS))('MWP-FND-003a, MWP-SDV-015b, MWP-SDV-016, MWP-FND-006c: agree on %s', (name) => {
    const texts = TEXTS[name] ?? [];
    expect(texts.length).toBeGreaterThan(30);
    expect(compareAll(texts).disagreements).toEqual([]);
  });

  it('MWP-SDV-015b: agree on every text of up to five tokens', () => {
    const texts = sequences(['{', '}', '[', ']', ',', ':', '"a"', '1'], 5);
    const { disagreements, verdicts } = compareAll(texts, { maxDepth: 3 });
    expect(disagreements).toEqual([]);
    expect(Object.keys(verdicts)).toEqual(expect.arrayContaining(['accepted', 'too-deep', 'invalid-json']));
  });

  it('MWP-SDV-015b: agree on every lead byte with every edge of what may follow it', () => {
    const tails = [[], ...tuplesOf([0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0], 3)];
    const leads = Array.from({ length: 0x81 }, (_, index) => 0x7f + index);
    for (const before of [[0x22], []]) {
      const inputs = leads.flatMap((lead) => tails.map((tail) => Uint8Array.from([...before, lead, ...tail, 0x22])));
      const { disagreements, verdicts } = compareAll(inputs);
      expect(disagreements).toEqual([]);
      expect(verdicts).toHaveProperty('invalid-utf8');
    }
  });

  it('MWP-SDV-015b: agree on a byte-order mark, whole, cut and elsewhere', () => {
    const mark = [0xef, 0xbb, 0xbf];
    const inputs = ['', '{}', '1', ' 1', '"'].flatMap((text) => [
      Uint8Array.from([...mark, ...bytesOf(text)]),
      Uint8Array.from([...bytesOf(text), ...mark]),
      Uint8Array.from([...mark, ...mark, ...bytesOf(text)]),
      ...[1, 2].map((cut) => Uint8Array.from([...mark.slice(0, cut), ...bytesOf(text)])),
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Uint8Array.from([0xfe, 0xff, ...bytesOf(text)]),
    ]);
    expect(compareAll(inputs).disagreements).toEqual([]);
    expect(compareReaders(Uint8Array.from([...mark, 0xff])).verdict).toBe('byte-order-mark');
  });

  it('MWP-SDV-015b: agree on nesting about the bound, closed, open and in strings', () => {
    const opened = ['[', '{"a":', '[{"b":', '[1,', ' [\n'];
    const closers = ['', ']', '}', '}]', ']}'];
    const depths = [1, 2, 31, 32, 33, 62, 63, 64, 65, 66, 200];
    const inputs = opened.flatMap((open) =>
      closers.flatMap((close) =>
        depths.flatMap((depth) =>
          ['', '1', '"[[{"', ',', '{"a":1,"a":2}'].map((inner) => open.repeat(depth) + inner + close.repeat(depth)),
        ),
      ),
    );
    const { disagreements, verdicts } = compareAll([...inputs, '['.repeat(100_000), `"${'['.repeat(1000)}"`]);
    expect(disagreements).toEqual([]);
    expect(Object.keys(verdicts)).toEqual(expect.arrayContaining(['accepted', 'too-deep', 'duplicate-member']));
    expect(compareReaders('['.repeat(64) + ']'.repeat(64)).verdict).toBe('accepted');
    expect(compareReaders('['.repeat(65) + ']'.repeat(65)).verdict).toBe('too-deep');
  });

  it('MWP-SDV-015b: agree on the size, whatever the bytes are', () => {
    for (const text of ['"é"', '{"a":1}', '[[[', '\ufeff1', '']) {
      const bytes = bytesOf(text);
      for (const maxBytes of [bytes.length - 1, bytes.length, bytes.length + 1].filter((bound) => bound >= 0))
        expect(compareReaders(bytes, { maxBytes }).disagreement).toBeUndefined();
    }
    expect(compareReaders(Buffer.alloc(1_048_577, 0xff)).verdict).toBe('too-large');
    expect(compareReaders(Buffer.alloc(1_048_577, 0xff)).disagreement).toBeUndefined();
  });

  it('MWP-SDV-015b, MWP-SDV-016, MWP-FND-006b, MWP-FND-006c: agree on 30000 random texts', () => {
    expectAgreement(30_000, [...OF_TEXTS, ...OF_THE_DATA_MODEL], (random) => randomJsonText(random));
  });

  it('MWP-SDV-015b: agree on 30000 random texts with damaged bytes', () => {
    expectAgreement(30_000, ['accepted', 'invalid-json', 'invalid-utf8'], (random) => {
      const text = randomJsonText(random);
      const bytes = bytesOf(random.chance(0.3) ? respelled(text, random) : text);
      return mutatedBytes(bytes, random, bytesOf(randomJsonText(random)));
    });
  });
});

const BUNDLE = process.env['MWP_BUNDLE'] ?? resolve(import.meta.dirname, '../../../shared/mwp');

describe.runIf(existsSync(join(BUNDLE, 'conformance/manifest.json')))('the published documents', () => {
  const documents = () =>
    readdirSync(BUNDLE, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.json') && !path.endsWith('manifest.json'))
      .map((path) => readFileSync(join(BUNDLE, path)));

  it('MWP-SDV-015b: are read alike, and so are 4000 damaged ones', () => {
    const whole = documents();
    expect(compareAll(whole).disagreements).toEqual([]);
    expectAgreement(4_000, ['accepted', 'invalid-utf8', 'invalid-json', 'duplicate-member'], (random) => {
      const bytes = random.pick(whole);
      return random.chance(0.5) ? mutatedBytes(bytes, random, random.pick(whole)) : respelled(String(bytes), random);
    });
  });
});

/** All tuples of one to `most` of the values. */
function tuplesOf(values: readonly number[], most: number): number[][] {
  const shorter = most > 1 ? [[], ...tuplesOf(values, most - 1)] : [[]];
  return values.flatMap((value) => shorter.map((rest) => [value, ...rest]));
}
