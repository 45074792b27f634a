// RFC 8259 section by section over the bytes of one text, with what I-JSON (RFC 7493) and the reader's stated bounds add.
// Slow, recursive, and written without a look at the strict reader, to be compared with it.
import { nearestBinary64 } from './reference-number.ts';
import { decodeUtf8 } from './reference-utf8.ts';

export type Fault = 'too-large' | 'byte-order-mark' | 'invalid-utf8' | 'too-deep' | 'invalid-json' | 'duplicate-member';
export type ModelFault = 'number-outside-binary64' | 'lone-surrogate';

export type Reading =
  | { accepted: true; value: unknown; modelFaults: ReadonlySet<ModelFault> }
  /** No JSON, and with more brackets than the bound: how deep it would have been, the grammar cannot say. */
  | { accepted: false; fault: Fault; isDepthOpen?: boolean };

export interface Bounds {
  maxBytes: number;
  maxDepth: number;
}

export function readJson(bytes: Uint8Array, { maxBytes, maxDepth }: Bounds): Reading {
  if (bytes.length > maxBytes) return { accepted: false, fault: 'too-large' };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { accepted: false, fault: 'byte-order-mark' };
  const points = decodeUtf8(bytes);
  if (points === undefined) return { accepted: false, fault: 'invalid-utf8' };
  const text = new Text(points, maxDepth);
  try {
    const value = text.whole();
    if (text.hasDuplicate) return { accepted: false, fault: 'duplicate-member' };
    return { accepted: true, value, modelFaults: text.modelFaults };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const brackets = points.filter((point) => point === code('[') || point === code('{')).length;
    return { accepted: false, fault: error.fault, isDepthOpen: error.fault === 'invalid-json' && brackets > maxDepth };
  }
}

class Refusal extends Error {
  readonly fault: 'too-deep' | 'invalid-json';
  constructor(fault: 'too-deep' | 'invalid-json') {
    super(fault);
    this.fault = fault;
  }
}

const code = (character: string): number => character.codePointAt(0) as number;
const isDigit = (point: number | undefined): boolean => point !== undefined && point >= code('0') && point <= code('9');

/** `\u` apart, RFC 8259 section 7. */
const ESCAPES: Readonly<Record<string, number>> = {
  '"': 0x22,
  '\\': 0x5c,
  '/': 0x2f,
  b: 0x08,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
};

class Text {
  hasDuplicate = false;
  readonly modelFaults = new Set<ModelFault>();
  private at = 0;
  private readonly points: readonly number[];
  private readonly maxDepth: number;

  constructor(points: readonly number[], maxDepth: number) {
    this.points = points;
    this.maxDepth = maxDepth;
  }

  whole(): unknown {
    this.blanks();
    const value = this.value(0);
    this.blanks();
    if (this.at < this.points.length) throw new Refusal('invalid-json');
    return value;
  }

  /** Section 3. `depth`: arrays and objects around the value. */
  private value(depth: number): unknown {
    const next = this.points[this.at];
    if (next === code('{')) return this.object(depth + 1);
    if (next === code('[')) return this.array(depth + 1);
    if (next === code('"')) return this.string();
    if (next === code('t')) return this.literal('true', true);
    if (next === code('f')) return this.literal('false', false);
    if (next === code('n')) return this.literal('null', null);
    return this.number();
  }

  /** Section 4. */
  private object(depth: number): unknown {
    if (depth > this.maxDepth) throw new Refusal('too-deep');
    const members: [name: string, value: unknown][] = [];
    this.need('{');
    this.blanks();
    if (this.has('}')) return {};
    do {
      this.blanks();
      const name = this.string();
      this.blanks();
      this.need(':');
      this.blanks();
      const value = this.value(depth);
      if (members.some(([other]) => other === name)) this.hasDuplicate = true;
      members.push([name, value]);
      this.blanks();
    } while (this.has(','));
    this.need('}');
    return Object.fromEntries(members); // defines, so that `__proto__` is a member like any other
  }

  /** Section 5. */
  private array(depth: number): unknown {
    if (depth > this.maxDepth) throw new Refusal('too-deep');
    const items: unknown[] = [];
    this.need('[');
    this.blanks();
    if (this.has(']')) return items;
    do {
      this.blanks();
      items.push(this.value(depth));
      this.blanks();
    } while (this.has(','));
    this.need(']');
    return items;
  }

  /** Section 6. */
  private number(): number {
    const start = this.at;
    this.has('-');
    if (!this.has('0')) this.digits();
    if (this.has('.')) this.digits();
    if (this.has('e') || this.has('E')) {
      if (!this.has('+')) this.has('-');
      this.digits();
    }
    const value = nearestBinary64(String.fromCharCode(...this.points.slice(start, this.at)));
    if (value === Infinity || value === -Infinity) this.modelFaults.add('number-outside-binary64');
    return value;
  }

  private digits(): void {
    if (!isDigit(this.points[this.at])) throw new Refusal('invalid-json');
    while (isDigit(this.points[this.at])) this.at += 1;
  }

  /** Section 7. */
  private string(): string {
    const units: number[] = [];
    this.need('"');
    while (!this.has('"')) {
      const point = this.points[this.at];
      if (point === undefined || point < 0x20) throw new Refusal('invalid-json');
      this.at += 1;
      if (point === code('\\')) units.push(this.escaped());
      else if (point <= 0xffff) units.push(point);
      else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    }
    if (hasLoneSurrogate(units)) this.modelFaults.add('lone-surrogate');
    return units.map((unit) => String.fromCharCode(unit)).join('');
  }

  /** The code unit behind a backslash. */
  private escaped(): number {
    if (!this.has('u')) {
      const unit = ESCAPES[String.fromCodePoint(this.points[this.at] ?? 0)];
      if (unit === undefined) throw new Refusal('invalid-json');
      this.at += 1;
      return unit;
    }
    const digits = this.points.slice(this.at, this.at + 4).map((point) => String.fromCodePoint(point));
    if (digits.length < 4 || !digits.every((digit) => /^[0-9A-Fa-f]$/.test(digit))) throw new Refusal('invalid-json');
    this.at += 4;
    return parseInt(digits.join(''), 16);
  }

  private literal(word: string, value: unknown): unknown {
    for (const character of word) this.need(character);
    return value;
  }

  /** Section 2: four characters and no more. */
  private blanks(): void {
    while (this.has(' ') || this.has('\t') || this.has('\n') || this.has('\r'));
  }

  private has(character: string): boolean {
    if (this.points[this.at] !== code(character)) return false;
    this.at += 1;
    return true;
  }

  private need(character: string): void {
    if (!this.has(character)) throw new Refusal('invalid-json');
  }
}

function hasLoneSurrogate(units: readonly number[]): boolean {
  const isHigh = (unit = 0) => unit >= 0xd800 && unit <= 0xdbff;
  const isLow = (unit = 0) => unit >= 0xdc00 && unit <= 0xdfff;
  return units.some((unit, at) => (isHigh(unit) && !isLow(units[at + 1])) || (isLow(unit) && !isHigh(units[at - 1])));
}
