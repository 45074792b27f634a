// Random documents out of the published schemas: their references to one another become names of one table.
import type fc from 'fast-check';
import { jsonOf, type Schema } from '../property/json-of-schema.ts';
import { OFFICIAL_SCHEMAS } from './official-schemas.ts';

/** Of `common.schema.json#/$defs/id` and `#/$defs/id` in that file: `common.id`. */
function nameOf(reference: string, file: string): string {
  const [target = '', pointer = ''] = reference.split('#');
  const name = target === '' ? file : target.replace('.schema.json', '');
  return pointer === '' ? name : `${name}.${pointer.split('/').at(-1) ?? ''}`;
}

/** A copy that refers to the table. */
function renamed(schema: unknown, file: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => renamed(item, file));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === '$ref' && typeof value === 'string' ? nameOf(value, file) : renamed(value, file),
    ]),
  );
}

/** Documents by the name of their file, definitions by that and their own. */
export const SCHEMA_TABLE: Readonly<Record<string, Schema>> = Object.fromEntries(
  [...OFFICIAL_SCHEMAS].flatMap(([file, schema]) => [
    [file, renamed(schema, file) as Schema],
    ...Object.entries(schema.$defs ?? {}).map(([name, inner]) => [`${file}.${name}`, renamed(inner, file) as Schema]),
  ]),
) as Record<string, Schema>;

export function documentsOf(name: string): fc.Arbitrary<unknown> {
  // As a parser would bring it: fast-check makes objects without a prototype, and members that are undefined.
  return jsonOf({ $ref: name }, SCHEMA_TABLE).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
}
