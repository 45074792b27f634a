// What a JSON Schema asks of an object beyond its members one by one: `if`, `then`, `else`, `not` and `anyOf` over which
// members there are and which values they have. Objects are changed until they fit, as far as that goes.
import type { Schema } from './json-of-schema.ts';

type JsonObject = Record<string, unknown>;
type Resolve = (schema: Schema) => Schema;

/** Passes over all conditions: what one of them changes may bring another into force. */
const PASSES = 3;

/** `full` has a value for every member that there could be. */
export function fit(object: JsonObject, full: JsonObject, schema: Schema, resolve: Resolve): JsonObject {
  const [first] = schema.anyOf ?? [];
  if (first && !schema.anyOf?.some((choice) => holds(choice, object, resolve))) {
    for (const name of first.required ?? []) object[name] = full[name];
  }
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const narrower of schema.allOf ?? []) {
      const { if: condition, then, else: otherwise } = narrower;
      const branch = condition === undefined ? narrower : holds(condition, object, resolve) ? then : otherwise;
      if (branch) impose(branch, object, full, resolve);
    }
  }
  return object;
}

function impose(branch: Schema, object: JsonObject, full: JsonObject, resolve: Resolve): void {
  for (const name of branch.required ?? []) object[name] ??= full[name];
  const unwanted = branch.not ? [branch.not, ...(branch.not.anyOf ?? [])] : [];
  for (const { required = [] } of unwanted) for (const name of required) Reflect.deleteProperty(object, name);
  for (const [name, asked] of Object.entries(branch.properties ?? {})) {
    const { const: only, enum: values, properties } = resolve(asked);
    if (!Object.hasOwn(object, name)) continue;
    if (only !== undefined) object[name] = only;
    else if (values && !values.includes(object[name])) object[name] = values[0];
    else if (properties && isObject(object[name])) {
      // One value may stand in several documents.
      const member = { ...object[name] };
      impose({ properties }, member, {}, resolve);
      object[name] = member;
    }
  }
}

/** Of the keywords only those that conditions use. */
function holds(schema: Schema, value: unknown, resolve: Resolve): boolean {
  const { const: only, enum: values, not, anyOf, minimum, required = [], properties = {} } = resolve(schema);
  if (only !== undefined && value !== only) return false;
  if (values && !values.includes(value)) return false;
  if (not && holds(not, value, resolve)) return false;
  if (anyOf && !anyOf.some((choice) => holds(choice, value, resolve))) return false;
  if (minimum !== undefined && typeof value === 'number' && value < minimum) return false;
  if (!isObject(value)) return true;
  if (!required.every((name) => Object.hasOwn(value, name))) return false;
  return Object.entries(properties).every(
    ([name, inner]) => !Object.hasOwn(value, name) || holds(inner, value[name], resolve),
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
