// Reads exactly one strict JSON value from bytes (stage 1, MWP-SDV-015b). Values that JSON can spell but the signing
// data model cannot hold are not refused here, only noted: they belong to stage 5 (MWP-SDV-016).

import { isAscii, isUtf8 } from 'node:buffer';

/** Largest document of the wire. A Command of a full-length Message is about a third of it. */
export const MAX_JSON_BYTES = 1_048_576;
/** Deepest nesting. No document of the protocol needs more than a dozen; payloads get the rest. */
export const MAX_JSON_DEPTH = 64;

export interface JsonBounds {
  readonly maxBytes?: number;
  readonly maxDepth?: number;
}

export type ParseFault =
  'too-large' | 'byte-order-mark' | 'invalid-utf8' | 'too-deep' | 'invalid-json' | 'duplicate-member';

export type StrictJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** A number beyond binary64 (its value reads as Infinity) or a lone surrogate, somewhere in the value. */
      readonly dataModelFault?: DataModelFault;
    }
  | { readonly ok: false; readonly fault: ParseFault };

export type DataModelFault = 'number-outside-binary64' | 'lone-surrogate';

export function parseStrictJson(bytes: Uint8Array, bounds: JsonBounds = {}): StrictJson {
  if (bytes.byteLength > (bounds.maxBytes ?? MAX_JSON_BYTES)) return { ok: false, fault: 'too-large' };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { ok: false, fault: 'byte-order-mark' };
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return { ok: false, fault: 'invalid-utf8' };
  // Of ASCII both decodings say the same; this one copies.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(ascii ? 'latin1' : 'utf8');

  // Depth before JSON.parse, so that no hostile nesting reaches a recursion.
  const shape = scanShape(text);
  if (shape.depth > (bounds.maxDepth ?? MAX_JSON_DEPTH)) return { ok: false, fault: 'too-deep' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, fault: 'invalid-json' };
  }
  // JSON.parse keeps one of two members of equal decoded name, so fewer members come out than the text spells.
  const seen: Census = { members: 0, fault: undefined, checkSurrogates: shape.hasUnicodeEscape };
  takeCensus(value, seen);
  if (seen.members !== shape.members) return { ok: false, fault: 'duplicate-member' };
  return seen.fault === undefined ? { ok: true, value } : { ok: true, value, dataModelFault: seen.fault };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface TextShape {
  members: number;
  depth: number;
  /** Bytes are valid UTF-8, so only an escape can spell a lone surrogate. */
  hasUnicodeEscape: boolean;
}

/** Counts members (colons outside strings) and nesting. Right for valid JSON; for anything else JSON.parse refuses. */
function scanShape(text: string): TextShape {
  let members = 0;
  let open = 0;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case COLON:
        members += 1;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        open += 1;
        if (open > depth) depth = open;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        open -= 1;
        break;
    }
  }
  return { members, depth, hasUnicodeEscape: text.includes('\\u') };
}

/** Index of the closing quote of the string that opens at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

interface Census {
  members: number;
  fault: DataModelFault | undefined;
  readonly checkSurrogates: boolean;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function takeCensus(value: unknown, seen: Census): void {
  if (typeof value === 'string') {
    if (seen.checkSurrogates && LONE_SURROGATE.test(value)) seen.fault ??= 'lone-surrogate';
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) seen.fault ??= 'number-outside-binary64';
  } else if (Array.isArray(value)) {
    for (const item of value) takeCensus(item, seen);
  } else if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value)) {
      seen.members += 1;
      if (seen.checkSurrogates && LONE_SURROGATE.test(name)) seen.fault ??= 'lone-surrogate';
      takeCensus((value as Record<string, unknown>)[name], seen);
    }
  }
}
