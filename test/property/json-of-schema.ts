// Random JSON that a JSON Schema takes, of the API's description or one of the published ones. Of the keywords only those
// that they use.
import fc from 'fast-check';
import { fit } from './conditions.ts';

export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  not?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
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
  propertyNames?: Schema;
  additionalProperties?: Schema | boolean;
}

/** Longest random texts and lists: bounds of the schemas themselves are told apart by other tests. */
const LONG = 20;

export function jsonOf(schema: Schema, components: Record<string, Schema>): fc.Arbitrary<unknown> {
  const of = (inner: Schema): fc.Arbitrary<unknown> => jsonOf(inner, components);
  const resolve = ({ $ref, ...schema }: Schema): Schema =>
    $ref === undefined ? schema : resolve(components[$ref.split('/').at(-1) as string] as Schema);
  if (schema.$ref !== undefined) return of(resolve(schema));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices && schema.type === undefined) return fc.oneof(...choices.map(of));
  const [whole, ...narrower] = schema.allOf ?? [];
  if (whole && schema.type === undefined) return of({ ...resolve(whole), allOf: narrower });
  switch (schema.type) {
    case 'object':
      return objectOf(schema, of, resolve);
    case 'array':
      return listOf(schema, of);
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1e300, noNaN: true });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue();
  }
}

function objectOf(
  schema: Schema,
  of: (schema: Schema) => fc.Arbitrary<unknown>,
  resolve: (schema: Schema) => Schema,
): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], minProperties = 0, propertyNames, additionalProperties } = schema;
  if (propertyNames && typeof additionalProperties === 'object') {
    return fc.dictionary(of({ type: 'string', ...propertyNames }) as fc.Arbitrary<string>, of(additionalProperties), {
      maxKeys: 2,
    });
  }
  const possible = Object.entries(properties).filter(([, member]) => member.not === undefined || member.type);
  const shape = Object.fromEntries(possible.map(([name, member]) => [name, of(member)]));
  const all = fc.record(shape, { requiredKeys: Object.keys(shape) });
  const isConditional = schema.allOf !== undefined || schema.anyOf !== undefined;
  const objects = isConditional
    ? fc.tuple(all, fc.subarray(Object.keys(shape))).map(([full, picked]) => {
        const object = Object.fromEntries([...new Set([...required, ...picked])].map((name) => [name, full[name]]));
        return fit(object, full, schema, resolve);
      })
    : fc.record(shape, { requiredKeys: required });
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

function textOf({ format, pattern, anyOf, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
  const kind = anyOf?.find((choice) => choice.enum);
  if (kind) return fc.constantFrom(...(kind.enum as string[]));
  if (pattern === '^wss://') return fc.stringMatching(/^wss:\/\/[a-z]{1,10}$/);
  if (format === 'uri') return fc.stringMatching(/^urn:test:[a-z0-9]{12}$/);
  if (format === 'date-time')
    return fc.stringMatching(/^20[0-4][0-9]-0[1-9]-[12][0-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9]Z$/);
  if (minLength === 43 && maxLength === 43) return fc.stringMatching(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/);
  if (pattern?.includes('(?!')) return fc.stringMatching(/^P[0-9]{1,9}D(?:T[0-9]{1,9}H(?:[0-9]{1,9}\.[0-9]{1,9}S)?)?$/);
  if (pattern !== undefined) {
    const expression = new RegExp(pattern, 'u');
    const cut = fc.stringMatching(expression).map((text) => text.slice(0, maxLength));
    return cut.filter((text) => text.length >= minLength && expression.test(text));
  }
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength ?? LONG, LONG)) });
}
