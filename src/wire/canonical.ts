// RFC 8785 canonical form over I-JSON, and the hash labels made of it (MWP-FND-006, -007b). What the data model cannot
// hold is refused before one canonical byte exists.

import { hash } from 'node:crypto';
import type { DataModelFault } from './strict-json.ts';

export type CanonicalForm =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: DataModelFault };

/**
 * For received values: a number beyond binary64 or a lone surrogate is an answer, not an exception. `without` names a
 * member that is left out at the top, where the value is an object.
 */
export function tryCanonicalText(value: unknown, without?: string): CanonicalForm {
  try {
    const isObject = without !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value);
    const text = isObject ? canonicalObject(value as Record<string, unknown>, without) : canonicalText(value);
    return { ok: true, text };
  } catch (error) {
    if (error instanceof DataModelError) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** For our own values. Members that are undefined are left out, as in JSON.stringify. Throws DataModelError. */
export function canonicalText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      if (!Number.isFinite(value)) throw new DataModelError('number-outside-binary64');
      return String(value); // ECMAScript's shortest form; -0 prints as 0
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    case 'bigint':
    case 'symbol':
    case 'function':
    case 'undefined':
      throw new TypeError(`a ${typeof value} is no JSON value`);
  }
}

/** One object in two canonical spellings, walked once: as it is without a member, and with a value in that place. */
export interface OpenCanonicalText {
  readonly text: string;
  with(value: unknown): string;
}

/** For what is signed without its signature and kept with it. A value that stands there already is left out. */
export function canonicalTextOpenAt(object: object, name: string): OpenCanonicalText {
  const before: string[] = [];
  const after: string[] = [];
  for (const member of Object.keys(object).sort()) {
    const value = (object as Record<string, unknown>)[member];
    if (value === undefined || member === name) continue;
    (member < name ? before : after).push(`${quote(member)}:${canonicalText(value)}`);
  }
  return {
    text: `{${[...before, ...after].join(',')}}`,
    with: (value) => `{${[...before, `${quote(name)}:${canonicalText(value)}`, ...after].join(',')}}`,
  };
}

export function canonicalBytes(value: unknown): Uint8Array {
  return Buffer.from(canonicalText(value), 'utf8');
}

export function sha256Label(bytes: Uint8Array | string): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

/** `sha256:…` of the canonical bytes. */
export function canonicalHash(value: unknown): string {
  return sha256Label(canonicalText(value));
}

export class DataModelError extends Error {
  readonly fault: DataModelFault;
  constructor(fault: DataModelFault) {
    super(`outside the RFC 8785 data model: ${fault}`);
    this.fault = fault;
  }
}

function canonicalArray(items: readonly unknown[]): string {
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ',';
    text += canonicalText(items[index]);
  }
  return `${text}]`;
}

function canonicalObject(object: Record<string, unknown>, without?: string): string {
  let text = '{';
  const names = Object.keys(object);
  sortByUnits(names);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    const value = object[name];
    if (value === undefined || name === without) continue;
    if (text.length > 1) text += ',';
    text += `${quote(name)}:${canonicalText(value)}`;
  }
  return `${text}}`;
}

/** As many members as envelopes have. Above it, insertion would cost a hostile object quadratic time. */
const SORTED_BY_INSERTION_MAXIMUM = 32;

/** By UTF-16 units, the order of RFC 8785 section 3.2.3 and of the default sort, whose call costs more than small work. */
function sortByUnits(names: string[]): void {
  if (names.length > SORTED_BY_INSERTION_MAXIMUM) {
    names.sort();
    return;
  }
  for (let end = 1; end < names.length; end += 1) {
    const name = names[end] as string;
    let place = end;
    for (; place > 0 && (names[place - 1] as string) > name; place -= 1) names[place] = names[place - 1] as string;
    names[place] = name;
  }
}

/** What JSON escapes, and every surrogate, paired or not. Most texts hold none of it. */
// eslint-disable-next-line no-control-regex -- the control characters are what it looks for
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;
/** Up to here a loop is done before the call of an expression has begun. */
const LOOPED_LENGTH_MAXIMUM = 48;

function quote(text: string): string {
  if (!needsCare(text)) return `"${text}"`;
  const quoted = JSON.stringify(text);
  // JSON.stringify escapes a lone surrogate, so a string that it left alone holds none.
  if (quoted.length !== text.length + 2 && LONE_SURROGATE.test(text)) throw new DataModelError('lone-surrogate');
  return quoted;
}

function needsCare(text: string): boolean {
  if (text.length > LOOPED_LENGTH_MAXIMUM) return NEEDS_CARE.test(text);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit & 0xf800) === 0xd800) return true;
  }
  return false;
}
