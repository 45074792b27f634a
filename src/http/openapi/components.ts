// The named schemas of the document. A name is given once, where the schema is at home; whatever refers to that very
// schema refers to the name.
import { z } from 'zod';
import { DOCUMENT_SCHEMAS, type DocumentName } from '../../protocol/documents/catalogue.ts';
import { actor, budget, signature } from '../../protocol/documents/shapes.ts';
import { delegationGrant } from '../../protocol/documents/membership.ts';
import type { JsonSchema } from './operation.ts';

const named = z.registry<{ id: string }>();
const names = new Set<string>();

/** Gives the schema its name and hands it back. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  if (names.has(name)) throw new Error(`two schemas are called ${name}`);
  names.add(name);
  named.add(schema, { id: name });
  return schema;
}

component('Actor', actor);
component('Budget', budget);
component('DelegationGrant', delegationGrant);
component('Signature', signature);
for (const [name, schema] of Object.entries(DOCUMENT_SCHEMAS)) component(pascal(name as DocumentName), schema);

function pascal(name: string): string {
  return name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function refTo(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** How the document refers to a schema that has a name. */
export function refOf(schema: z.ZodType): { $ref: string } {
  const id = named.get(schema)?.id;
  if (id === undefined) throw new Error('a schema of a body or an answer has no name: wrap it in component(…)');
  return refTo(id);
}

let written: Record<string, JsonSchema> | undefined;

/** All of them as JSON Schema 2020-12. What a check of ours cannot say in it is looser here and never stricter. */
export function componentSchemas(): Record<string, JsonSchema> {
  written ??= write();
  return written;
}

function write(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(named, { io: 'input', unrepresentable: 'any', uri: (id) => refTo(id).$ref });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema as JsonSchema]),
  );
}

/** Only what `roots` lead to, in the order of the names. */
export function reachable(roots: unknown, schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== 'string') visit(member);
      else if (name === '$ref' || member.startsWith('#/components/schemas/')) {
        const id = member.replace('#/components/schemas/', '');
        if (found.has(id)) continue;
        found.add(id);
        visit(schemas[id]);
      }
    }
  };
  visit(roots);
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => found.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
