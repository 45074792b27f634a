// The published documents under every schema, ours and the official one: not only under the one that they are meant for.
import { describe, expect, it } from 'vitest';
import { DOCUMENT_NAMES } from '../../src/protocol/documents/catalogue.ts';
import {
  COMMON,
  OFFICIAL_SCHEMAS,
  SUBJECTS,
  bundledDocuments,
  hasBundle,
  validatorOf,
  validVectors,
} from './official-schemas.ts';

describe.runIf(hasBundle)('the published schemas and ours', () => {
  it('MWP-FND-004a: have the same names, and ours has every shared definition', () => {
    expect([...OFFICIAL_SCHEMAS.keys()].filter((name) => name !== COMMON).sort()).toEqual([...DOCUMENT_NAMES].sort());
    for (const { isOurs } of SUBJECTS) expect(isOurs(undefined)).toBe(false);
  });

  it.each(SUBJECTS)('MWP-FND-004a, MWP-SDV-015c: $name: agree on every published document', (subject) => {
    const documents = bundledDocuments();
    expect(documents.length).toBeGreaterThan(100);
    const differing = documents.filter(({ value }) => subject.isOurs(value) !== subject.isOfficial(value));
    expect(differing.map(({ path }) => path)).toEqual([]);
    if (!subject.name.includes('#')) expect(validVectors(subject)).not.toEqual([]);
  });

  it('MWP-SDV-016: a number beyond binary64 is valid in a schema without upper bound: the exception is needed', () => {
    const budget = `${OFFICIAL_SCHEMAS.get(COMMON)?.$id ?? ''}#/$defs/budget`;
    const strict = validatorOf({ formats: 'protocol', strictNumbers: true })(budget);
    const lenient = validatorOf({ formats: 'protocol', strictNumbers: false })(budget);
    const ours = SUBJECTS.find(({ name }) => name === 'common#budget')?.isOurs;
    const said = (text: string) => {
      const value = JSON.parse(text) as unknown;
      return [strict(value), lenient(value), ours?.(value)];
    };
    expect(said('{"currency":"EUR","financialLimit":1e400}')).toEqual([false, true, true]);
    expect(said('{"currency":"EUR","financialLimit":-1e400}')).toEqual([false, false, false]);
    expect(said('{"toolCallLimit":1e400}')).toEqual([false, false, false]);
  });
});
