// Every valid published document, and for each schema random ones that hold what those leave out, changed in one place
// after the other.
import fc from 'fast-check';
import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mutations } from './mutations.ts';
import { documentsOf } from './official-json.ts';
import { DOCUMENTS, hasBundle, validVectors, type Subject } from './official-schemas.ts';

const SEED = Number(process.env['MUTATED_DOCUMENTS_SEED'] ?? randomInt(2 ** 31));
/** Random documents to choose from. */
const DRAWN = 40;

interface Beginning {
  path: string;
  value: unknown;
}

/** Documents that differ in their ids, hashes, texts and times alone have the same. */
function skeletonOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'number') return 0;
    return typeof member === 'string' && (member.length > 24 || /[:\s]/.test(member)) ? '' : member;
  });
}

/** Of each branch of the schema, that with the most members of those drawn. */
function randomBeginnings({ name, schema, isOfficial }: Subject): Beginning[] {
  const branches = schema.oneOf?.map(({ $ref = '' }) => `${name}.${$ref.split('/').at(-1) ?? ''}`) ?? [name];
  return branches.map((branch) => {
    const drawn = fc.sample(documentsOf(branch), { seed: SEED, numRuns: DRAWN }).filter((value) => isOfficial(value));
    const membersOf = (value: unknown) => JSON.stringify(value).split('":').length;
    const value = drawn.reduce((most, other) => (membersOf(other) > membersOf(most) ? other : most));
    return { path: `random ${branch}, seed ${SEED}`, value };
  });
}

function beginnings(subject: Subject): Beginning[] {
  const bySkeleton = new Map<string, Beginning>();
  for (const beginning of [...validVectors(subject), ...randomBeginnings(subject)]) {
    const skeleton = skeletonOf(beginning.value);
    if (!bySkeleton.has(skeleton)) bySkeleton.set(skeleton, beginning);
  }
  return [...bySkeleton.values()];
}

describe.runIf(hasBundle)('changed documents', () => {
  it.each(DOCUMENTS)('MWP-FND-004a, MWP-FND-009, MWP-SDV-015c: $name: each change is judged alike', (subject) => {
    const disagreements: string[] = [];
    const seen = { valid: 0, invalid: 0, unjudged: 0 };
    for (const { path, value } of beginnings(subject)) {
      const holder = { document: structuredClone(value) };
      for (const change of mutations(holder, subject.name)) {
        const isValid = subject.isOfficial(holder.document);
        seen[isValid === undefined ? 'unjudged' : isValid ? 'valid' : 'invalid'] += 1;
        if (isValid === undefined || subject.isOurs(holder.document) === isValid) continue;
        disagreements.push(`${isValid ? 'valid' : 'invalid'} is ${path} with ${change}`);
      }
      expect(holder.document).toEqual(value);
    }
    expect(disagreements.slice(0, 10)).toEqual([]);
    expect(seen.valid, `seed ${SEED}`).toBeGreaterThan(50);
    expect(seen.invalid, `seed ${SEED}`).toBeGreaterThan(300);
    expect(seen.unjudged).toBe(0);
  });
});
