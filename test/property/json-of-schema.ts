// Random JSON that a JSON Schema of the API's description takes. Of the keywords only those that its bodies use.
import fc from 'fast-check';

export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  not?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  minProperties?: number;
}

/** Longest random texts and lists: bounds of the schemas themselves are told apart by other tests. */
const LONG = 20;

export function jsonOf(schema: Schema, components: Record<string, Schema>): fc.Arbitrary<unknown> {
  const of = (inner: Schema): fc.Arbitrary<unknown> => jsonOf(inner, components);
  if (schema.$ref !== undefined) return of(components[schema.$ref.split('/').at(-1) as string] as Schema);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf && schema.type === undefined) return fc.oneof(...schema.anyOf.map(of));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, of);
    case 'array':
      return listOf(schema, of);
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue();
  }
}

function objectOf(
  { properties = {}, required = [], minProperties = 0 }: Schema,
  of: (schema: Schema) => fc.Arbitrary<unknown>,
) {
  const possible = Object.entries(properties).filter(([, schema]) => schema.not === undefined);
  const shape = Object.fromEntries(possible.map(([name, schema]) => [name, of(schema)]));
  const objects = fc.record(shape, { requiredKeys: required });
  return objects.filter((object) => Object.keys(object).length >= minProperties);
}

function listOf(
  { items = {}, minItems = 0, maxItems = LONG, uniqueItems }: Schema,
  of: (schema: Schema) => fc.Arbitrary<unknown>,
) {
  const length = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 3)) };
  return uniqueItems
    ? fc.uniqueArray(of(items), { ...length, selector: (item) => JSON.stringify(item) })
    : fc.array(of(items), length);
}

function textOf({ format, pattern, anyOf, minLength = 0, maxLength = LONG }: Schema): fc.Arbitrary<string> {
  const kind = anyOf?.find((choice) => choice.enum);
  if (kind) return fc.constantFrom(...(kind.enum as string[]));
  if (pattern === '^wss://') return fc.stringMatching(/^wss:\/\/[a-z]{1,10}$/);
  if (format === 'uri') return fc.stringMatching(/^urn:test:[a-z0-9]{12}$/);
  if (format === 'date-time')
    return fc.stringMatching(/^20[0-4][0-9]-0[1-9]-[12][0-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9]Z$/);
  if (minLength === 43 && maxLength === 43) return fc.stringMatching(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/);
  if (pattern !== undefined) {
    const texts = fc.stringMatching(new RegExp(pattern, 'u'));
    const cut = texts.map((text) => text.slice(0, maxLength));
    return cut.filter((text) => text.length >= minLength && new RegExp(pattern, 'u').test(text));
  }
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, LONG)) });
}
