// The published JSON Schemas by a validator that knows nothing of ours, every format asserting, beside our own checks of
// the same names: 21 documents, and the definitions that they share.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DOCUMENT_SCHEMAS, isDocumentName } from '../../src/protocol/documents/catalogue.ts';
import * as shapes from '../../src/protocol/documents/shapes.ts';
import { parseStrictJson } from '../../src/wire/strict-json.ts';
import { isGeneric, isOfProtocol } from './generic-formats.ts';

export interface OfficialSchema {
  $id?: string;
  $ref?: string;
  $defs?: Record<string, OfficialSchema>;
  oneOf?: OfficialSchema[];
  [keyword: string]: unknown;
}

const BUNDLE = process.env['MWP_BUNDLE'] ?? resolve(import.meta.dirname, '../../../shared/mwp');
export const hasBundle = existsSync(join(BUNDLE, 'conformance/manifest.json'));

export const COMMON = 'common';

/** By the name of the file without its ending. */
export const OFFICIAL_SCHEMAS: ReadonlyMap<string, OfficialSchema> = new Map(
  (hasBundle ? readdirSync(join(BUNDLE, 'schemas')) : []).map((file) => [
    file.replace('.schema.json', ''),
    JSON.parse(readFileSync(join(BUNDLE, 'schemas', file), 'utf8')) as OfficialSchema,
  ]),
);

const uriOf = (name: string) => OFFICIAL_SCHEMAS.get(name)?.$id ?? '';

/**
 * The schemas narrow one object in several places, which two checks of style in strict mode object to. A number beyond
 * binary64 is none to the validator's strict numbers: the one exception that is not a format.
 */
export function validatorOf({ formats, strictNumbers }: { formats: 'protocol' | 'generic'; strictNumbers: boolean }) {
  const accepts = remembered(formats === 'protocol' ? isOfProtocol : isGeneric);
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictNumbers,
    formats: { uri: (text) => accepts('uri', text), 'date-time': (text) => accepts('date-time', text) },
  });
  ajv.addSchema([...OFFICIAL_SCHEMAS.values()]);
  return (pointer: string) => {
    const validate = ajv.getSchema(pointer);
    if (validate === undefined) throw new Error(`no schema ${pointer}`);
    return (value: unknown) => {
      try {
        return validate(value) as boolean;
      } catch (error) {
        if (error instanceof TypeError) return undefined;
        throw error;
      }
    };
  };
}

/** The same texts stand in thousands of changed documents. */
function remembered(accepts: typeof isOfProtocol): typeof isOfProtocol {
  const answers = { uri: new Map<string, boolean>(), 'date-time': new Map<string, boolean>() };
  return (format, text) => {
    const known = answers[format].get(text);
    const answer = known ?? accepts(format, text);
    if (known === undefined) answers[format].set(text, answer);
    return answer;
  };
}

export interface Subject {
  /** Of a document, or `common#name` of a shared definition. */
  name: string;
  schema: OfficialSchema;
  /** Undefined where the validator fails: it compares items by calling their member `valueOf`. */
  isOfficial: (value: unknown) => boolean | undefined;
  isOurs: (value: unknown) => boolean;
}

function subjects(): Subject[] {
  const validator = validatorOf({ formats: 'protocol', strictNumbers: false });
  const documents = [...OFFICIAL_SCHEMAS].filter(([name]) => name !== COMMON);
  const definitions = Object.entries(OFFICIAL_SCHEMAS.get(COMMON)?.$defs ?? {});
  return [
    ...documents.map(([name, schema]) => ({
      name,
      schema,
      isOfficial: validator(uriOf(name)),
      isOurs: (value: unknown) => isDocumentName(name) && DOCUMENT_SCHEMAS[name].safeParse(value).success,
    })),
    ...definitions.map(([name, schema]) => ({
      name: `${COMMON}#${name}`,
      schema,
      isOfficial: validator(`${uriOf(COMMON)}#/$defs/${name}`),
      isOurs: (value: unknown) => ourShape(name).safeParse(value).success,
    })),
  ];
}

function ourShape(name: string) {
  const ours = (shapes as unknown as Record<string, z.ZodType | undefined>)[name];
  if (ours === undefined) throw new Error(`no shape ${name}`);
  return ours;
}

export const SUBJECTS: readonly Subject[] = subjects();
export const DOCUMENTS: readonly Subject[] = SUBJECTS.filter(({ name }) => !name.includes('#'));

/** Every JSON document of the bundle, but for manifests and their schemas. */
export function bundledDocuments(): { path: string; value: unknown }[] {
  const paths = readdirSync(BUNDLE, { recursive: true, encoding: 'utf8' }).sort();
  return paths
    .filter((path) => path.endsWith('.json') && !/manifest|schema/.test(path))
    .flatMap((path) => {
      const json = parseStrictJson(readFileSync(join(BUNDLE, path)));
      return json.ok ? [{ path, value: json.value }] : [];
    });
}

/** Of one document, those that it is meant to take. */
export function validVectors(subject: Subject): { path: string; value: unknown }[] {
  return bundledDocuments().filter(({ value }) => subject.isOfficial(value));
}
