import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH, parseStrictJson } from '../../src/wire/strict-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const faultOf = (input: Uint8Array) => {
  const result = parseStrictJson(input);
  return result.ok ? 'none' : result.fault;
};

describe('strict JSON', () => {
  it.each([
    ['duplicate-member', '{"a":1,"a":1}'],
    ['duplicate-member', '{"a":1,"\\u0061":2}'],
    ['duplicate-member', '{"x":[{"deep":{"é":1,"\\u00e9":2}}]}'],
    ['duplicate-member', '{"__proto__":1,"__proto__":2}'],
    ['duplicate-member', '{"a":{"b":1},"a":{"b":1}}'],
    ['invalid-json', '{"a":1} {}'],
    ['invalid-json', '{"a":1}x'],
    ['invalid-json', ''],
    ['invalid-json', '   '],
    ['invalid-json', '{"a":01}'],
    ['invalid-json', '{"a":NaN}'],
    ['invalid-json', '{"a":1,}'],
    ['invalid-json', "{'a':1}"],
    ['invalid-json', '{"a":"\t"}'],
    ['invalid-json', '{"a":1}\u00a0'],
    ['invalid-json', '"unterminated'],
    ['invalid-json', '{"a":"\\"}'],
  ])('MWP-SDV-015b: %s in %s', (fault, text) => {
    expect(faultOf(bytes(text))).toBe(fault);
  });

  it('MWP-SDV-015b: a byte-order mark is refused, at the front only as such', () => {
    expect(faultOf(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes('{}')]))).toBe('byte-order-mark');
    expect(faultOf(bytes('{"a":"\ufeff"}'))).toBe('none');
  });

  it.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a cut sequence', [0x22, 0xe2, 0x82, 0x22]],
    ['beyond U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
  ])('MWP-SDV-015b: bad UTF-8 is refused: %s', (_name, raw) => {
    expect(faultOf(Uint8Array.from(raw))).toBe('invalid-utf8');
  });

  it('MWP-SDV-015b: equal names in different objects, and names that only look equal, are fine', () => {
    expect(faultOf(bytes('[{"a":1},{"a":2},{"a":{"a":{"a":":"}}}]'))).toBe('none');
    expect(faultOf(bytes('{"a":1,"A":2,"a ":3,"\\\\u0061":4,"":5,"\\u0000":6}'))).toBe('none');
  });

  it('MWP-SDV-015b: bounds on size and nesting hold exactly', () => {
    const nested = (depth: number) => bytes('['.repeat(depth) + ']'.repeat(depth));
    expect(faultOf(nested(MAX_JSON_DEPTH))).toBe('none');
    expect(faultOf(nested(MAX_JSON_DEPTH + 1))).toBe('too-deep');
    expect(faultOf(bytes('['.repeat(1_000_000)))).toBe('too-deep');
    expect(parseStrictJson(bytes('"12345"'), { maxBytes: 7 }).ok).toBe(true);
    expect(parseStrictJson(bytes('"12345"'), { maxBytes: 6 })).toEqual({ ok: false, fault: 'too-large' });
    expect(faultOf(bytes(`"${'['.repeat(500)}"`))).toBe('none');
  });

  it('MWP-SDV-016: overflow numbers and lone surrogates parse and are noted', () => {
    expect(parseStrictJson(bytes('{"n":1e400}'))).toEqual({
      ok: true,
      value: { n: Infinity },
      dataModelFault: 'number-outside-binary64',
    });
    for (const text of ['["\\ud800"]', '["\\udc00\\ud800"]', '{"\\uDBFF":1}', '["x\\ud83dx"]']) {
      expect(parseStrictJson(bytes(text))).toMatchObject({ ok: true, dataModelFault: 'lone-surrogate' });
    }
    expect(parseStrictJson(bytes('["\\ud83d\\ude00"]'))).toEqual({ ok: true, value: ['😀'] });
    expect(parseStrictJson(bytes('[1e-400, 1.7976931348623157e308]'))).toMatchObject({ ok: true });
    expect(parseStrictJson(bytes('[1e308]'))).not.toHaveProperty('dataModelFault');
  });

  it('MWP-SDV-016: __proto__ is a member like any other', () => {
    const result = parseStrictJson(bytes('{"__proto__":{"polluted":true}}'));
    expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('MWP-SDV-015b: every JSON text comes back as it went in', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseStrictJson(bytes(text), { maxDepth: 1000 })).toEqual({
          ok: true,
          value: JSON.parse(text) as unknown,
        });
      }),
    );
  });

  it('MWP-SDV-015b: doubling any one member is always seen', () => {
    const name = fc.string({ minLength: 1, maxLength: 4 });
    const object = fc.dictionary(name, fc.jsonValue(), { minKeys: 1, maxKeys: 5 });
    fc.assert(
      fc.property(object, fc.nat(), fc.nat(), (value, pick, place) => {
        const members = Object.keys(value).map((key) => `${JSON.stringify(key)}:${JSON.stringify(value[key])}`);
        const key = Object.keys(value)[pick % members.length] ?? '';
        const escaped = [...key].map((c) => escapeUnits(c)).join('');
        members.splice(place % (members.length + 1), 0, `"${escaped}":null`);
        expect(faultOf(bytes(`[{${members.join(',')}}]`))).toBe('duplicate-member');
      }),
    );
  });
});

function escapeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
