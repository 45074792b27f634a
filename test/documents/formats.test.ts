// Our two formats against the checker that comes with the JSON Schema validator, the listed differences apart.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUri } from '../../src/protocol/documents/uri.ts';
import { isTimestamp } from '../../src/protocol/timestamps.ts';
import { FORMAT_EXCEPTIONS, isGeneric, isOfProtocol } from './generic-formats.ts';

const OURS = { 'date-time': isTimestamp, uri: isUri };
const RUNS = { numRuns: 20_000, verbose: 1 }; // fast-check prints seed and path of a failure

describe('generic formats', () => {
  it.each(FORMAT_EXCEPTIONS)('MWP-FND-009: $format, $name: the exception is needed ($because)', (exception) => {
    for (const text of exception.examples) {
      expect([text, isGeneric(exception.format, text)]).toEqual([text, !exception.valid]);
      expect([text, OURS[exception.format](text)]).toEqual([text, exception.valid]);
      const others = FORMAT_EXCEPTIONS.filter((other) => other !== exception && other.format === exception.format);
      expect(others.filter((other) => other.isCase(text))).toEqual([]);
    }
  });

  const part = (likely: readonly string[], odd: readonly string[]) =>
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...likely) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
  const two = (least: number, most: number) =>
    part([least, most, Math.floor((least + most) / 2)].map(twoDigits), [
      '00',
      '24',
      '29',
      '30',
      '31',
      '60',
      '99',
      '1',
      '٠٠',
    ]);
  const timestamp = fc.tuple(
    part(['0001', '1900', '2000', '2023', '2024', '9999'], ['0000', '202', '20240', '-001']),
    part(['-'], ['', '/', '\u2010']),
    two(1, 12),
    fc.constant('-'),
    two(1, 28),
    part(['T', 't'], [' ', '\n', '', 'TT', '_']),
    two(0, 23),
    fc.constant(':'),
    two(0, 59),
    part([':'], ['', '.']),
    two(0, 59),
    part(['', '.0', '.5', '.999999999999'], ['.', ',5', '.5.5', '.٣']),
    fc.oneof(
      part(['Z', 'z'], ['', 'ZZ', '+', 'Z\n', '+5:30', '+05:3', ' Z']),
      fc.tuple(part(['+', '-'], ['\u2212']), two(0, 23), part([':'], ['']), two(0, 59)).map((parts) => parts.join('')),
    ),
  );

  it('MWP-FND-004b, MWP-FND-005a, MWP-FND-009: timestamps of all spellings are judged alike', () => {
    let valid = 0;
    fc.assert(
      fc.property(
        timestamp.map((parts) => parts.join('')),
        (text) => {
          if (isTimestamp(text)) valid += 1;
          expect(isTimestamp(text)).toBe(isOfProtocol('date-time', text));
        },
      ),
      RUNS,
    );
    expect(valid).toBeGreaterThan(500);
  });

  const PIECES = [
    ...['urn:', 'http:', 'x:', '1:', '//', '/', ':', '?', '#', '@', '[', ']', '[::1]', '[v1.a]', '[1:2:3:4:5:6:7:8]'],
    ...['[::1.2.3.4]', '[::1.2.3.04]', '[1::2::3]', '[::256.0.0.1]', 'a', 'A1', '8', '%41', '%4', '%zz', '"', '<', ' '],
    ...[
      'é',
      '\n',
      '\\',
      '^',
      '|',
      '`',
      '{',
      '~',
      "'",
      '(',
      '!',
      '*',
      '+',
      '-',
      '.',
      '..',
      '_',
      '&=',
      ';,',
      '$',
      '\u017f',
    ],
  ];
  const uri = fc
    .tuple(
      fc.constantFrom('urn:', 'http://', 'x:/', 'HTTP://a', 'X+1:', ''),
      fc.array(fc.constantFrom(...PIECES), { maxLength: 7 }),
    )
    .map(([scheme, rest]) => scheme + rest.join(''));

  it('MWP-FND-008a, MWP-FND-009: URIs of all pieces are judged alike', () => {
    let valid = 0;
    fc.assert(
      fc.property(uri, (text) => {
        if (isUri(text)) valid += 1;
        expect(isUri(text)).toBe(isOfProtocol('uri', text));
      }),
      RUNS,
    );
    expect(valid).toBeGreaterThan(500);
  });
});

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
