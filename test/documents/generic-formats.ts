// Where a generic format checker and this protocol part: each difference with its clause, the texts that show it, and a
// test of its own for whether a text is a case of it. What is not listed here may not differ.
import { fullFormats } from 'ajv-formats/dist/formats.js';

export interface FormatException {
  name: string;
  because: string;
  format: 'date-time' | 'uri';
  /** Said by the protocol, against the generic checker. */
  valid: boolean;
  isCase(text: string): boolean;
  examples: readonly string[];
}

export function isGeneric(format: 'date-time' | 'uri', text: string): boolean {
  const checker = fullFormats[format] as ((text: string) => boolean) | { validate: (text: string) => boolean };
  return typeof checker === 'function' ? checker(text) : checker.validate(text);
}

const afterDate = (text: string) => text.slice(11);

/** The authority of a URI that has one. */
function authorityOf(text: string): string | undefined {
  return /^[^:/?#]+:\/\/([^/?#]*)/.exec(text)?.[1];
}

function isNoAuthority(authority: string): boolean {
  const afterUser = authority.slice(authority.indexOf('@') + 1);
  const port = /^(?:\[[^\]]*\]|[^:]*):?(.*)$/s.exec(afterUser)?.[1] ?? '';
  return afterUser.includes('@') || !/^[0-9]*$/.test(port);
}

export const FORMAT_EXCEPTIONS: readonly FormatException[] = [
  {
    name: 'a blank for T',
    because: 'MWP-FND-004b: RFC 3339 section 5.6 spells the T; the blank is a note for other applications',
    format: 'date-time',
    valid: false,
    isCase: (text) => /\s/.test(text.charAt(10)),
    examples: ['2026-01-01 00:00:00Z', '2026-01-01\n00:00:00Z', '2026-01-01\u00a000:00:00+01:00'],
  },
  {
    name: 'second 60',
    because: 'MWP-FND-004b: seconds are 00 to 59',
    format: 'date-time',
    valid: false,
    isCase: (text) => /^..:..:60/.test(afterDate(text)),
    examples: ['2016-12-31T23:59:60Z', '2026-01-01T00:59:60.25+01:00'],
  },
  {
    name: 'year 0000',
    because: 'MWP-FND-004b: years are 0001 to 9999',
    format: 'date-time',
    valid: false,
    isCase: (text) => text.startsWith('0000'),
    examples: ['0000-01-01T00:00:00Z', '0000-02-29t12:00:00.5z'],
  },
  {
    name: 'the unknown local offset',
    because: 'MWP-FND-004b: -00:00 names no instant',
    format: 'date-time',
    valid: false,
    isCase: (text) => text.endsWith('-00:00'),
    examples: ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.0-00:00'],
  },
  {
    name: 'an offset without colon or minutes',
    because: 'MWP-FND-004b: RFC 3339 section 5.6 has hours, a colon and minutes',
    format: 'date-time',
    valid: false,
    isCase: (text) => /[+-][0-9]{2}(?:[0-9]{2})?$/.test(afterDate(text)),
    examples: ['2026-01-01T00:00:00+0530', '2026-01-01T00:00:00-05'],
  },
  {
    name: 'an hour or minute beyond the clock that the offset brings back',
    because: 'MWP-FND-004b: RFC 3339 section 5.6 has hours 00 to 23 and minutes 00 to 59, whatever the offset',
    format: 'date-time',
    valid: false,
    isCase: (text) => Number(afterDate(text).slice(0, 2)) > 23 || Number(afterDate(text).slice(3, 5)) > 59,
    examples: ['2026-01-01T24:59:00+01:00', '2026-01-01T23:60:00+00:01'],
  },
  {
    name: 'nothing behind the scheme',
    because: 'MWP-FND-008a: RFC 3986 section 3 lets the path be empty, and a published valid vector has it',
    format: 'uri',
    valid: true,
    isCase: (text) => /^[^:/?#]+:(?:[?#]|$)/.test(text) && isGeneric('uri', text.replace(':', ':a')),
    examples: ['urn:', 'a+b-c.1:?q', 'urn:#f', 'urn:?a/b?c#d'],
  },
  {
    name: 'a leading zero in the IPv4 part of an IPv6 address',
    because: 'MWP-FND-008a: RFC 3986 section 3.2.2 spells an octet without it',
    format: 'uri',
    valid: false,
    isCase: (text) => /[:.]0[0-9]{1,2}[.\]]/.test(/\[[^\]]*\.[^\]]*\]/.exec(text)?.[0] ?? ''),
    examples: ['http://[::1.2.3.04]/', 'http://[::ffff:001.2.3.4]'],
  },
  {
    name: 'an authority behind one slash',
    because: 'MWP-FND-008a: RFC 3986 section 3 begins an authority with two; a path has no brackets',
    format: 'uri',
    valid: false,
    isCase: (text) => /^[^:/?#]+:\/(?!\/)[^/?#]*\[/.test(text),
    examples: ['http:/[::1]', 'x:/a@[v1.a]:80/b'],
  },
  {
    name: 'two slashes with no authority behind them',
    because: 'MWP-FND-008a: RFC 3986 section 3.3 lets no path begin with two slashes',
    format: 'uri',
    valid: false,
    isCase: (text) => isNoAuthority(authorityOf(text) ?? ''),
    examples: ['http://a:8a/', 'http://a@b@c', 'x://a:b:c/d'],
  },
];

/** The generic checker put right by the exceptions. */
export function isOfProtocol(format: 'date-time' | 'uri', text: string): boolean {
  const cases = FORMAT_EXCEPTIONS.filter((exception) => exception.format === format && exception.isCase(text));
  if (cases.some(({ valid }) => !valid)) return false;
  return isGeneric(format, text) || cases.length > 0;
}
