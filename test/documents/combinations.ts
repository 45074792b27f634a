// What the conditions of a published schema speak of: members that may have to be there or not to be there, and members
// whose value decides. Every combination of them makes a document.
import type { Schema } from '../property/json-of-schema.ts';
import { put, schemasOfMember, spread } from './mutations.ts';

type JsonObject = Record<string, unknown>;

interface Choice {
  path: readonly string[];
  /** Undefined: the member is not there. */
  values: readonly unknown[];
}

export function choicesOf(schema: Schema, full: JsonObject): Choice[] {
  const byPath = new Map<string, Set<unknown>>();
  const note = (path: readonly string[], ...values: unknown[]) => {
    const known = byPath.get(path.join('/')) ?? new Set();
    byPath.set(path.join('/'), new Set([...known, ...values]));
  };
  for (const [path, own] of [[[], [schema]], ...membersOf(schema)] as [string[], Schema[]][]) {
    const required = new Set(own.flatMap((part) => part.required ?? []));
    for (const condition of own.flatMap((part) => part.allOf ?? [])) mention(condition, path, required, note);
  }
  const choices = [...byPath].map(([joined, mentioned]): Choice => {
    const path = joined.split('/');
    const own = path.reduce(
      (schemas, name) => schemas.flatMap((part) => schemasOfMember(part, name)).flatMap(spread),
      [schema],
    );
    const values = new Set([...mentioned, ...own.flatMap(({ enum: listed = [] }) => listed), at(full, path)]);
    if (own.some(({ type }) => type === 'boolean')) [true, false].forEach((value) => values.add(value));
    if (own.some(({ pattern }) => pattern?.startsWith('^ext'))) values.add('ext.a.b.c');
    return { path, values: [...values] };
  });
  // The last is varied first: a member before what stands in it.
  const possible = choices.filter(({ path }) => at(full, path) !== undefined);
  return possible.sort((one, other) => other.path.length - one.path.length);
}

const membersOf = (schema: Schema) =>
  Object.entries(schema.properties ?? {}).map(([name, member]) => [[name], spread(member)] as [string[], Schema[]]);

function mention(
  condition: Schema,
  path: readonly string[],
  alwaysThere: ReadonlySet<string>,
  note: (path: readonly string[], ...values: unknown[]) => void,
): void {
  const { if: when, then, else: otherwise, not, anyOf = [], required = [], properties = {} } = condition;
  for (const name of required) if (!alwaysThere.has(name)) note([...path, name], undefined);
  for (const part of [when, then, otherwise, not, ...anyOf]) if (part) mention(part, path, alwaysThere, note);
  for (const [name, member] of Object.entries(properties)) {
    const inner = [...path, name];
    for (const { const: only, enum: listed = [], minimum, minItems, properties: further } of spread(member)) {
      if (only !== undefined) note(inner, only);
      if (minimum !== undefined) note(inner, minimum - 1, minimum, minimum + 1);
      if (minItems !== undefined) note(inner, []);
      note(inner, ...listed);
      // What is required further in is so by the member's own schema.
      if (further) mention({ properties: further }, inner, new Set(), note);
    }
  }
}

export function* combinations(full: JsonObject, choices: readonly Choice[]): Generator<JsonObject> {
  const [choice, ...rest] = choices;
  if (choice === undefined) {
    yield structuredClone(full);
    return;
  }
  const last = choice.path.at(-1) as string;
  for (const combined of combinations(full, rest)) {
    for (const value of choice.values) {
      const changed = structuredClone(combined);
      const holder = at(changed, choice.path.slice(0, -1));
      if (typeof holder !== 'object' || holder === null) continue;
      if (value === undefined) Reflect.deleteProperty(holder, last);
      else put(holder as JsonObject, last, structuredClone(value));
      yield changed;
    }
  }
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((holder, name) => (holder as JsonObject | undefined)?.[name], value);
}
