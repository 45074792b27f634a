// RFC 8785 canonical form over I-JSON, and the hash labels made of it (MWP-FND-006, -007b). What the data model cannot
// hold is refused before one canonical byte exists.

import { hash } from 'node:crypto';
import type { DataModelFault } from './strict-json.ts';

export type CanonicalForm =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: DataModelFault };

/** For received values: a number beyond binary64 or a lone surrogate is an answer, not an exception. */
export function tryCanonicalText(value: unknown): CanonicalForm {
  try {
    return { ok: true, text: canonicalText(value) };
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

function canonicalObject(object: Record<string, unknown>): string {
  let text = '{';
  // The default sort compares UTF-16 units, which is the order of RFC 8785 section 3.2.3.
  for (const name of Object.keys(object).sort()) {
    const value = object[name];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${quote(name)}:${canonicalText(value)}`;
  }
  return `${text}}`;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function quote(text: string): string {
  const quoted = JSON.stringify(text);
  // JSON.stringify escapes a lone surrogate, so a string that it left alone holds none.
  if (quoted.length !== text.length + 2 && LONE_SURROGATE.test(text)) throw new DataModelError('lone-surrogate');
  return quoted;
}
