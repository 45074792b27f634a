// Random JSON texts as no encoder of ours would spell them: blanks, escapes, repeated names, numbers of all sizes. Made
// of text, not of values, so that a text can say what no value can.
import type { Random } from '../fuzz/random.ts';

const NAMES = ['a', 'b', 'c', '__proto__', 'é', '😀', '', '0', '1', '\ud800'];
const TOKENS = ['', '[', ']', '{', '}', ',', ':', '"', '\\', 'null', '01', '\0', '\ufeff', '1e400', '"\\ud800"'];
/** Deeper than the bound of the comparison now and then. */
const DEEPEST = 8;
/** Of a hundred places, one gets a token that hardly belongs there. */
const SLIP = 0.01;

export function randomJsonText(random: Random, depth = 0): string {
  const value = `${blanks(random)}${valueOf(random, depth)}${blanks(random)}`;
  return random.chance(SLIP) ? `${random.pick(TOKENS)}${value}` : value;
}

function valueOf(random: Random, depth: number): string {
  // Seldom a text that is one scalar.
  const kind = depth === 0 ? random.between(3, 6) : random.below(depth < DEEPEST ? 7 : 4);
  if (kind === 0) return random.pick(['true', 'false', 'null']);
  if (kind === 1) return numberText(random);
  if (kind < 4) return stringText(random, random.chance(0.3) ? random.pick(NAMES) : random.text(random.below(12)));
  const size = random.below(4);
  if (kind === 4) return `[${list(size, () => randomJsonText(random, depth + 1))}]`;
  return `{${list(size, () => memberText(random, depth))}}`;
}

function memberText(random: Random, depth: number): string {
  const name = stringText(random, random.pick(NAMES));
  return `${blanks(random)}${name}${blanks(random)}:${randomJsonText(random, depth + 1)}`;
}

function numberText(random: Random): string {
  const digits = (most: number) => list(random.between(1, most), () => String(random.below(10)), '');
  const whole = random.chance(0.3) ? '0' : `${random.between(1, 9)}${random.chance(0.5) ? digits(25) : ''}`;
  const fraction = random.chance(0.4) ? `.${digits(25)}` : '';
  const exponent = random.chance(0.5)
    ? `${random.pick(['e', 'E'])}${random.pick(['', '+', '-'])}${random.between(0, 340)}`
    : '';
  return `${random.pick(['', '-'])}${whole}${fraction}${exponent}`;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\n': '\\n',
  '\t': '\\t',
};

function stringText(random: Random, text: string): string {
  let spelled = '';
  for (const point of text) {
    const isPlain = /[^"\\\p{Cc}\p{Cs}]/u.test(point);
    if (isPlain && random.chance(0.8)) spelled += point;
    else if (SHORT_ESCAPES[point] !== undefined && random.chance(0.5)) spelled += SHORT_ESCAPES[point];
    else spelled += escaped(point, random);
  }
  return `"${spelled}"`;
}

function escaped(text: string, random: Random): string {
  const unit = (index: number) => text.charCodeAt(index).toString(16).padStart(4, '0');
  return list(text.length, (index) => `\\u${random.chance(0.5) ? unit(index) : unit(index).toUpperCase()}`, '');
}

function blanks(random: Random): string {
  return random.chance(0.1) ? random.pick([' ', '\n', '\t', '\r', '  \n']) : '';
}

function list(length: number, item: (index: number) => string, separator = ','): string {
  return Array.from({ length }, (_, index) => item(index)).join(separator);
}
