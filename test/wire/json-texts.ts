// Texts that JSON readers disagree about, made by combining: what each of them is, the reference grammar says.

/** Sequences of one to `most` of the parts, joined. */
export function* sequences(parts: readonly string[], most: number): Generator<string> {
  for (const part of parts) {
    yield part;
    if (most > 1) for (const rest of sequences(parts, most - 1)) yield part + rest;
  }
}

function products(...choices: (readonly string[])[]): string[] {
  return choices.reduce<string[]>((before, next) => before.flatMap((start) => next.map((end) => start + end)), ['']);
}

const everyUnitBelow = (end: number) => Array.from({ length: end }, (_, unit) => String.fromCharCode(unit));

const WHOLES = ['', '0', '00', '01', '7', '10', '0x1', '٣', '9007199254740991', '9007199254740993', '1'.repeat(400)];
const FRACTIONS = ['', '.', '.0', '.5', '.50', '.5.5', '.000000000000000000000000000001', ',5'];
const EXPONENTS = [
  '',
  'e',
  'E',
  'e0',
  'e+',
  'e-',
  'e5',
  'E+05',
  'e-05',
  'e 5',
  'e1.5',
  'e+-1',
  'e308',
  'e309',
  'e-324',
];
const BEYOND = ['e400', 'E-400', 'e99999999999999999999', 'e-99999999999999999999'];

/** Numbers at the edges of binary64 and at ties between two of them. */
const EDGES = [
  '1.7976931348623157e308',
  '1.7976931348623158e308',
  '1.797693134862315807e308',
  '1.7976931348623159e308',
  '179769313486231580793e289',
  '5e-324',
  '4.9e-324',
  '2.4703282292062328e-324',
  '2.4703282292062327e-324',
  '2.2250738585072011e-308',
  '2.2250738585072014e-308',
  '9007199254740992.5',
  '9007199254740993.0000000000000000001',
  '9007199254740995',
  '0.1',
  '0.30000000000000004',
  '123456789012345678901234567890',
  `0.${'0'.repeat(330)}1`,
  `1${'0'.repeat(309)}e-309`,
  `${'9'.repeat(800)}e-790`,
  `0e${'9'.repeat(50)}`,
];

const SURROGATES = ['\\ud7ff', '\\uD800', '\\udbff', '\\uDC00', '\\udfff', '\\ue000', 'a', '😀', '\\\\', '\\n'];

/** Names that are equal once decoded, and names that only look so. */
const NAMES = [
  'a',
  '\\u0061',
  '\\u0041',
  'A',
  'a ',
  '',
  '\\u0000',
  '0',
  '1',
  '01',
  '__proto__',
  '\\u005f_proto__',
  '__proto_\\u005F',
  'constructor',
  'toString',
  'é',
  '\\u00e9',
  '\\u00E9',
  'e\u0301',
  '😀',
  '\\ud83d\\ude00',
  '\\uD83D',
  '\\ud83d',
  '\\ude00',
  '/',
  '\\/',
  '\\u002f',
  '\\"',
  '\\u0022',
  '\\\\',
  '\\u005c',
  '\\\\u0061',
  ':',
  '{',
];

const BLANKS = [
  ...everyUnitBelow(0x21),
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u1680',
  '\u2003',
  '\u2028',
  '\u3000',
  '\ufeff',
];
const WORDS = ['true', 'false', 'null', 'NaN', 'Infinity', '-Infinity', 'undefined', 'True', 'NULL'];

/** Around a value: as the whole text, in an array, in an object, after a value, before one. */
const PLACES = ['$', ' $\n', '[$]', '{"a":$}', '[1,$]', '[$,1]', '1$', '$1', '{$:1}', '[$', '$]', '"$"'];

export const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'numbers in every form': products(['', '-', '+', '--', ' -'], WHOLES, FRACTIONS, [...EXPONENTS, ...BEYOND]),
  'numbers at the edges of binary64': products(['', '-'], EDGES),
  'every escape of one character': products(['"\\', '"a\\\\\\', '{"\\'], everyUnitBelow(0x100), ['"', '":1}', '']),
  'four hex digits and not quite': products(
    ['"\\u', '"\\U', '"\\\\u'],
    [
      '',
      '0',
      '00',
      '006',
      '0061',
      '00610',
      'D83',
      'd83d\\',
      'd83d\\u',
      'd83d\\ude0',
      '00g1',
      '+061',
      ' 061',
      '0x61',
      '００61',
    ],
    ['"', 'g"', '', '\\"'],
  ),
  'surrogates in every order': [...sequences(SURROGATES, 3)].flatMap((text) => [`"${text}"`, `{"${text}":1e400}`]),
  'control characters in strings': everyUnitBelow(0x100).flatMap((unit) => [
    `"${unit}"`,
    `["a${unit}b"]`,
    `{"${unit}":0}`,
  ]),
  'pairs of member names': NAMES.flatMap((one) =>
    NAMES.flatMap((other) => [
      `{"${one}":1,"${other}":1}`,
      `[{"x":{"${one}":[],"y":0, "${other}" : {}}}]`,
      `{"${one}":{"${other}":1}}`,
    ]),
  ),
  'blanks of all kinds': BLANKS.flatMap((blank) => [
    `${blank}1`,
    `1${blank}`,
    `[${blank}]`,
    `[1${blank},2]`,
    `{"a"${blank}:1}`,
    `{"a":${blank}1}`,
    `{${blank}"a":1${blank}}`,
    `-${blank}1`,
    `tr${blank}ue`,
    blank,
  ]),
  'literals cut, changed and prolonged': WORDS.flatMap((word) => [
    ...PLACES.map((place) => place.replace('$', word)),
    ...Array.from({ length: word.length }, (_, length) => word.slice(0, length)),
    ...Array.from({ length: word.length }, (_, length) => `[${word.slice(0, length)}]`),
    `${word}x`,
    `${word}\0`,
    `${word}${word}`,
  ]),
  'values in all places': PLACES.flatMap((place) =>
    ['1', '"a"', '[]', '{}', '""', "'a'", 'a', '/**/1', '//', '1,', ',1', ',', ':', '"', '\\', '#', '\0'].map((value) =>
      place.replace('$', value),
    ),
  ),
  'trailing and leading matter': ['{}', '[]', '1', '"a"', 'null'].flatMap((text) =>
    ['{}', '1', ' 1', ',', ']', '}', '\0', '\n', '\ufeff', 'x', '"', text, ")]}'\n"].flatMap((more) => [
      text + more,
      more + text,
    ]),
  ),
};
