// Every change of a kind, one at a time, to every place of a document. What stands at a place in the published schema
// (bounds, enumerations, formats) says which texts and numbers are worth a try there.
import type { Schema } from '../property/json-of-schema.ts';
import { SCHEMA_TABLE } from './official-json.ts';
import { patternedTexts, timestampTexts, uriTexts } from './hostile-texts.ts';

type Holder = Record<string, unknown>;

interface Place {
  holder: Holder;
  name: string;
  schemas: readonly Schema[];
  path: string;
}

/** Says what was done while `holder.document` has it, and takes it back when asked for the next. */
export function* mutations(holder: { document: unknown }, schemaName: string): Generator<string> {
  const root = { ...place(holder, 'document', [{ $ref: schemaName }]), path: '' };
  for (const at of [root, ...placesIn(root)]) {
    const old = at.holder[at.name];
    if (at !== root && !Array.isArray(at.holder)) {
      Reflect.deleteProperty(at.holder, at.name);
      yield `${at.path} removed`;
    }
    for (const value of replacements(old, at.schemas)) {
      put(at.holder, at.name, value);
      yield `${at.path} = ${shown(value)}`;
    }
    put(at.holder, at.name, old);
  }
}

const TYPES: readonly unknown[] = [null, true, false, 0, 1, '', 'a', [], [null], {}, { a: 1 }];
const UNKNOWN_NAMES = [
  'unknown',
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'signature',
  'ext',
  '0',
];

function* replacements(old: unknown, schemas: readonly Schema[]): Generator<unknown> {
  yield* TYPES;
  if (typeof old === 'string') yield* new Set(texts(old, schemas));
  else if (typeof old === 'number') yield* new Set(numbers(old, schemas));
  else if (Array.isArray(old)) yield* lists(old as readonly unknown[]);
  else if (typeof old === 'object' && old !== null) {
    for (const name of UNKNOWN_NAMES) {
      const extended = { ...old };
      put(extended, name, null);
      yield extended;
    }
    yield [old];
  }
}

function* texts(old: string, schemas: readonly Schema[]): Generator<string> {
  yield* [' ', '\n', '\u0000', '\ud800', '😀', 'toString', '__proto__', 'null', `${old}\n`, `\n${old}`, `${old} `];
  yield* [` ${old}`, `${old}\u0000`, `${old}é`, `${old}\ud83d`, `${old}\u2028`, `${old}%`, `${old}"`, old.slice(0, -1)];
  yield* [
    old.slice(1),
    old.toUpperCase(),
    old.toLowerCase(),
    old + old,
    old.replace(/.$/, '\ud800'),
    ` ${old} `.trim(),
  ];
  for (const { enum: values = [], const: only, format, pattern, minLength, maxLength } of schemas) {
    for (const value of [...values, only])
      if (typeof value === 'string') yield* [value, `${value}s`, value.toUpperCase()];
    if (format === 'uri') yield* uriTexts();
    if (format === 'date-time') yield* timestampTexts();
    if (pattern !== undefined && format === undefined) yield* patternedTexts();
    for (const length of [minLength, maxLength].filter((bound) => bound !== undefined)) {
      for (const filler of ['a', 'A', '0', '😀', '\ud83d', '\ude00']) {
        for (const exactly of [length - 1, length, length + 1]) if (exactly > 0) yield filler.repeat(exactly);
      }
      for (const exactly of [length, length + 1]) yield old.padEnd(exactly, old.slice(-1) || 'a');
      yield `${'😀'.repeat(length - 1)}\ud83d`;
    }
  }
}

function* numbers(old: number, schemas: readonly Schema[]): Generator<number> {
  yield* [-0, -1, 2, 0.5, 1.5, 1 + 2 ** -52, 1 - 2 ** -53, 5e-324, -5e-324, 1e21, 1e308, Infinity, -Infinity];
  yield* [2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 2 ** 31, 2 ** 32, old + 1, old - 1, old + 0.5, -old];
  for (const { minimum, maximum } of schemas) {
    for (const bound of [minimum, maximum])
      if (bound !== undefined) yield* [bound - 1, bound - 0.5, bound, bound + 0.5, bound + 1];
  }
}

function* lists(old: readonly unknown[]): Generator<unknown[]> {
  for (const odd of [null, '', 0, {}, []]) yield [...old, odd];
  for (const item of old) {
    yield [...old, structuredClone(item)];
    yield [...old, respelled(item)];
    yield [item];
  }
  yield old.slice(1);
  yield [...old].reverse();
  yield [old];
}

/** The same object with its members the other way round. */
function respelled(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  return Object.fromEntries(Object.entries(item).reverse());
}

function placesIn(parent: Place): Place[] {
  const value = parent.holder[parent.name];
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((name) => {
    const child = place(
      value as Holder,
      name,
      parent.schemas.flatMap((schema) => schemasOfMember(schema, name)),
    );
    const found = { ...child, path: `${parent.path}/${name}` };
    return [found, ...placesIn(found)];
  });
}

const place = (holder: Holder, name: string, schemas: readonly Schema[]): Omit<Place, 'path'> => ({
  holder,
  name,
  schemas: schemas.flatMap(spread),
});

/** A schema and all that it is put together of, references followed. */
export function spread(schema: Schema): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [], then, else: otherwise } = schema;
  const referred = $ref === undefined ? undefined : SCHEMA_TABLE[$ref];
  const parts = [referred, ...anyOf, ...oneOf, ...allOf, then, otherwise].filter((part) => part !== undefined);
  return [schema, ...parts.flatMap(spread)];
}

export function schemasOfMember({ properties, items, additionalProperties }: Schema, name: string): Schema[] {
  const known = properties?.[name];
  const further = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return [known, items, further].filter((schema) => schema !== undefined);
}

/** As a parser would: `__proto__` becomes a member of its own. */
export function put(holder: Holder, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

const SHOWN = 200;

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value).slice(0, SHOWN);
}
