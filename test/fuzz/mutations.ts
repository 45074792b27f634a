// Changes to what is valid: of JSON values, of the way they are spelled, and of bytes.
import { hostileName, hostileValue, rawJson } from './hostile-values.ts';
import type { Random } from './random.ts';

type Holder = Record<string, unknown> | unknown[];
interface Place {
  holder: Holder;
  name: string;
}

/** Members of one object or array that are looked at; more would only cost time. */
const LOOKED_AT = 50;

function placesIn(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const name of Object.keys(value).slice(0, LOOKED_AT)) {
    found.push({ holder: value as Holder, name });
    placesIn((value as Record<string, unknown>)[name], found);
  }
  return found;
}

/** As JSON would bring it: `__proto__` becomes a member of its own. */
function put(holder: Holder, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

/** A changed copy; a step that finds nothing to do leaves it as it is. */
export function mutatedValue(value: unknown, random: Random, steps = random.between(1, 3)): unknown {
  const root = { value: structuredClone(value) };
  for (let step = 0; step < steps; step += 1) mutateOnce(root, random);
  return root.value;
}

function mutateOnce(root: { value: unknown }, random: Random): void {
  const { holder, name } = random.pick(placesIn(root));
  const old = (holder as Record<string, unknown>)[name];
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      return put(holder, name, hostileValue(random));
    case 3:
      if (!Array.isArray(holder) && holder !== (root as Holder)) delete holder[name];
      return;
    case 4:
      if (typeof old === 'object' && old !== null && !Array.isArray(old)) {
        put(old as Holder, hostileName(random), hostileValue(random));
      } else if (Array.isArray(old)) {
        old.push(hostileValue(random));
      }
      return;
    case 5:
      if (Array.isArray(old)) old.push(...(structuredClone(old.slice(0, 3)) as unknown[]));
      return;
    case 6:
      return put(holder, name, nearMiss(old, random));
    default: {
      // What stands elsewhere in it: ids of other things, times of other meaning.
      const other = random.pick(placesIn(root));
      return put(holder, name, structuredClone((other.holder as Record<string, unknown>)[other.name]));
    }
  }
}

function nearMiss(old: unknown, random: Random): unknown {
  if (typeof old === 'number') return old + random.pick([-1, 1, 0.5, 2 ** 53]);
  if (typeof old === 'boolean') return !old;
  if (typeof old !== 'string') return [old];
  const at = random.below(old.length + 1);
  switch (random.below(4)) {
    case 0:
      return old.slice(0, at);
    case 1:
      return `${old.slice(0, at)}${random.text(1)}${old.slice(at)}`;
    case 2:
      return old.toUpperCase();
    default:
      return old + old;
  }
}

/** The same value or nearly, spelled as no encoder of ours would. */
export function respelled(text: string, random: Random): string {
  switch (random.below(6)) {
    case 0: // a raw token in place of some member's value
      return text.replace(tokenAt(text, random), () => `:${rawJson(random)}`);
    case 1: // a member named twice
      return text.replace(
        '{',
        () => `{"${random.pick(['kind', 'actor', 'payload', 'signature', 'x'])}":${rawJson(random)},`,
      );
    case 2: // blanks
      return text.replaceAll(/[,:]/g, (mark) => (random.chance(0.1) ? ` \n\t\r${mark} ` : mark));
    case 3: // escapes
      return text.replaceAll(/[a-z]/g, (letter) =>
        random.chance(0.02) ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
      );
    case 4: // more than one document
      return random.chance(0.5) ? `${text}${random.pick([' ', '\n', '\0', text, 'null', '{}'])}` : `[${text}]`;
    default:
      return `${random.pick(['\ufeff', ' ', ")]}'\n", '\0'])}${text}`;
  }
}

/** `:"…"` or `:123` somewhere in the text, as an expression that matches it once. */
function tokenAt(text: string, random: Random): string {
  const tokens = text.match(/:("[^"\\]{0,200}"|-?\d+|true|false|null)/g) ?? [''];
  return random.pick(tokens);
}

const BROKEN_UTF8 = [
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xfe, 0xff],
];

export function mutatedBytes(bytes: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1);
  switch (random.below(9)) {
    case 0: {
      const flipped = Uint8Array.from(bytes);
      for (let flips = random.between(1, 4); flips > 0 && bytes.length > 0; flips -= 1) {
        const position = random.below(bytes.length);
        flipped[position] = (flipped[position] ?? 0) ^ (1 << random.below(8));
      }
      return flipped;
    }
    case 1:
      return bytes.slice(0, at);
    case 2:
      return bytes.slice(at);
    case 3:
      return joined(bytes.slice(0, at), random.bytes(random.between(1, 20)), bytes.slice(at));
    case 4:
      return joined(bytes.slice(0, at), bytes.slice(Math.min(bytes.length, at + random.between(1, 40))));
    case 5:
      return joined(bytes.slice(0, at), other.slice(random.below(other.length + 1)));
    case 6:
      return joined(bytes.slice(0, at), Uint8Array.from(random.pick(BROKEN_UTF8)), bytes.slice(at));
    case 7: // the wrong encoding
      return new Uint8Array(Buffer.from(Buffer.from(bytes).toString('latin1'), 'utf16le'));
    default: {
      const end = Math.min(bytes.length, at + random.between(1, 200));
      return joined(bytes.slice(0, end), bytes.slice(at, end), bytes.slice(end));
    }
  }
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
