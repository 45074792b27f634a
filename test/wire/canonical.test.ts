import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { decodeBase64url, encodeBase64url } from '../../src/wire/base64url.ts';
import {
  canonicalBytes,
  canonicalHash,
  canonicalText,
  canonicalTextOpenAt,
  sha256Label,
  tryCanonicalText,
} from '../../src/wire/canonical.ts';

describe('the canonical form', () => {
  it('MWP-FND-003a, MWP-FND-006a: numbers, literals and escapes as RFC 8785 section 3.2 prints them', () => {
    const value = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    ) as unknown;
    expect(canonicalText(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it.each([
    ['-0', '0'],
    ['1E-7', '1e-7'],
    ['1e21', '1e+21'],
    ['1e20', '100000000000000000000'],
    ['0.000001', '0.000001'],
    ['5e-324', '5e-324'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['1.0', '1'],
  ])('MWP-FND-006a: %s prints as %s', (text, expected) => {
    expect(canonicalText(JSON.parse(text))).toBe(expected);
  });

  it('MWP-SDV-001c: open at a member, it prints the document without that member and with any value in its place', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (object, name, value) => {
        const { [name]: _left, ...rest } = object;
        const open = canonicalTextOpenAt(object, name);
        expect(open.text).toBe(canonicalText(rest));
        expect(open.with(value)).toBe(canonicalText({ ...rest, [name]: value }));
      }),
    );
  });

  it('MWP-FND-006a: texts and names of every length and unit, few or many, come out as sorting and JSON print them', () => {
    const plain = ['a', 'B', '1', ' ', '~', '\u007f', 'é', '\u2028', '\ufffd', '\ue000'];
    const escaped = ['"', '\\', '\u001f', '\n', '\ud83d\ude00'];
    const members = fc.constantFrom(plain, [...plain, ...escaped], [...plain, '\ud800', '\udfff']).chain((units) => {
      const unit = fc.constantFrom(...units);
      const text = fc.oneof(fc.string({ unit, maxLength: 12 }), fc.string({ unit, minLength: 40, maxLength: 60 }));
      return fc.oneof(
        fc.array(fc.tuple(text, text), { maxLength: 5 }),
        fc.array(fc.tuple(text, text), { minLength: 50, maxLength: 80 }),
      );
    });
    const refused = { count: 0, of: 0 };
    fc.assert(
      fc.property(members, fc.nat(80), (pairs, at) => {
        const object = Object.fromEntries(pairs);
        const without = pairs[at]?.[0] ?? 'no member';
        const printed = Object.keys(object)
          .filter((name) => name !== without)
          .sort()
          .map((name) => `${JSON.stringify(name)}:${JSON.stringify(object[name])}`);
        const form = tryCanonicalText(object, without);
        const faulty = printed.some((member) => /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(member));
        expect(form).toEqual(
          faulty ? { ok: false, fault: 'lone-surrogate' } : { ok: true, text: `{${printed.join(',')}}` },
        );
        refused.of += 1;
        if (faulty) refused.count += 1;
      }),
      { numRuns: 300 },
    );
    expect(refused.count).toBeGreaterThan(20);
    expect(refused.of - refused.count).toBeGreaterThan(20);
  });

  it('MWP-FND-006a: each unit alone in a short and in a long text is escaped as JSON escapes it, or refused', () => {
    for (let unit = 0; unit <= 0xffff; unit += unit < 0x100 ? 1 : 0x7f) {
      for (const length of [1, 47, 48, 49, 200]) {
        const text = String.fromCharCode(unit).padStart(length, 'a');
        const lone = unit >= 0xd800 && unit <= 0xdfff;
        const expected = lone ? { ok: false, fault: 'lone-surrogate' } : { ok: true, text: JSON.stringify(text) };
        expect(tryCanonicalText(text), `unit ${unit} at ${length}`).toEqual(expected);
      }
    }
  });

  it('MWP-SDV-001c: what stays out stays out at the top alone, and of an array and a text nothing does', () => {
    const form = (value: unknown) => tryCanonicalText(value, '0');
    expect(form({ 0: 1, a: { 0: 2 } })).toEqual({ ok: true, text: '{"a":{"0":2}}' });
    expect(form([{ 0: 1 }])).toEqual({ ok: true, text: '[{"0":1}]' });
    expect(form('0')).toEqual({ ok: true, text: '"0"' });
    expect(form(null)).toEqual({ ok: true, text: 'null' });
  });

  it('MWP-FND-006b: a number wider than binary64 is rounded first', () => {
    expect(canonicalText(JSON.parse('9007199254740993'))).toBe('9007199254740992');
    expect(() => canonicalText(10n)).toThrow(TypeError);
  });

  it('MWP-FND-006a: members are sorted by UTF-16 units', () => {
    const value = { '\ufb33': 1, '\u{1f600}': 2, '€': 3, '\r': 4, '1': 5, ö: 6, '\u0080': 7 };
    const names = [...canonicalText(value).matchAll(/"(.*?)":/gu)].map(
      (match) => JSON.parse(`"${match[1]}"`) as string,
    );
    expect(names).toEqual(['\r', '1', '\u0080', 'ö', '€', '\u{1f600}', '\ufb33']);
    expect(canonicalText({ b: { d: 1, c: 2 }, a: [] })).toBe('{"a":[],"b":{"c":2,"d":1}}');
  });

  it('MWP-FND-006c: overflow and lone surrogates are refused before a canonical byte exists', () => {
    expect(tryCanonicalText({ a: [Infinity] })).toEqual({ ok: false, fault: 'number-outside-binary64' });
    expect(tryCanonicalText({ a: NaN })).toEqual({ ok: false, fault: 'number-outside-binary64' });
    for (const text of ['\ud800', 'a\udc00', '\ud83d\ud83d\ude00', '\n\udfff']) {
      expect(tryCanonicalText([text])).toEqual({ ok: false, fault: 'lone-surrogate' });
      expect(tryCanonicalText({ [text]: 1 })).toEqual({ ok: false, fault: 'lone-surrogate' });
      expect(() => canonicalHash(text)).toThrow('data model');
    }
    expect(tryCanonicalText('\u{1f600}\\ud800')).toMatchObject({ ok: true });
  });

  it('MWP-SDV-001c: __proto__ is a member like any other', () => {
    expect(canonicalText(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
  });

  it('MWP-FND-006a: the form is a fixed point, blind to member order, and keeps the value', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, shuffled(member)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue(), (generated) => {
        const value = JSON.parse(JSON.stringify(generated)) as unknown;
        const text = canonicalText(value);
        expect(JSON.parse(text)).toEqual(value);
        expect(canonicalText(JSON.parse(text))).toBe(text);
        expect(canonicalText(shuffled(value))).toBe(text);
      }),
    );
  });

  it('MWP-FND-007b: a content hash is sha256: and 64 lower-case hex digits of the canonical bytes', () => {
    expect(sha256Label('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(canonicalHash({ b: 1, a: 'é' })).toBe(sha256Label(Buffer.from('{"a":"é","b":1}', 'utf8')));
    expect(canonicalBytes('é')).toEqual(Buffer.from([0x22, 0xc3, 0xa9, 0x22]));
  });

  it('MWP-FND-007b: no document may spell a content hash in another way', () => {
    const digest = 'ab'.repeat(32);
    const range = { fromSequence: 1, toSequence: 1, eventIds: ['urn:example:event:1'] };
    const withHash = (hash: string) =>
      checkDocument('context-package', {
        contextPackageId: 'urn:example:context:1',
        version: 1,
        missionId: 'urn:example:mission:1',
        groupId: 'urn:example:group:1',
        sourceEventRange: range,
        artifactHashes: [hash],
        summary: 'so far',
        decisions: [],
        constraints: [],
        unresolvedQuestions: [],
        generatedBy: { type: 'agent', id: 'urn:example:agent:1' },
        generatedAt: '2026-03-01T12:00:00Z',
        signature: {
          algorithm: 'Ed25519',
          keyId: 'urn:example:key:1',
          createdAt: '2026-03-01T12:00:00Z',
          value: 'A'.repeat(86),
        },
      }).valid;
    expect(withHash(`sha256:${digest}`)).toBe(true);
    const others = [
      `sha256:${digest.toUpperCase()}`,
      digest,
      `sha512:${digest}`,
      `SHA256:${digest}`,
      `sha256:${digest}\n`,
      `sha256:${digest}00`,
      `sha256:${digest.slice(1)}`,
    ];
    for (const other of others) expect(withHash(other)).toBe(false);
  });
});

describe('base64url', () => {
  it.each(['QQ==', 'QQ=', 'QR', 'Q+', 'Q/', 'A', 'QUI=', ' QUI', 'QUI\n', 'QU\u0000I', 'QUJD*', 'QUJDR'])(
    'MWP-FND-007a: %j is refused',
    (text) => {
      expect(decodeBase64url(text)).toBeUndefined();
    },
  );

  it('MWP-FND-007a: exactly one spelling decodes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const text = encodeBase64url(bytes);
        expect(Uint8Array.from(decodeBase64url(text) ?? [])).toEqual(bytes);
        if (bytes.length % 3 !== 0) expect(decodeBase64url(`${text}=`)).toBeUndefined();
      }),
    );
  });
});
