// The conditions that tie members of a document together: every combination of what they speak of.
import fc from 'fast-check';
import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/protocol/documents/json-value.ts';
import { choicesOf, combinations } from './combinations.ts';
import { documentsOf, SCHEMA_TABLE } from './official-json.ts';
import { DOCUMENTS, hasBundle } from './official-schemas.ts';

const SEED = Number(process.env['COMBINED_DOCUMENTS_SEED'] ?? randomInt(2 ** 31));
const DRAWN = 40;
const CONDITIONAL = DOCUMENTS.filter(({ schema }) => JSON.stringify(schema).includes('"if"'));

describe.runIf(hasBundle)('conditions', () => {
  it.each(CONDITIONAL)(
    'MWP-FND-004a, MWP-FND-016: $name: every combination is judged alike',
    ({ name, isOurs, isOfficial }) => {
      const drawn = fc.sample(documentsOf(name), { seed: SEED, numRuns: DRAWN }).filter((value) => isOfficial(value));
      // Every member that any of them has: conditions are about which of them go together.
      const full = drawn.reduce(merged) as Record<string, unknown>;
      const choices = choicesOf(SCHEMA_TABLE[name] ?? {}, full);
      const seen = { valid: 0, invalid: 0 };
      for (const document of combinations(full, choices)) {
        const isValid = isOfficial(document);
        seen[isValid ? 'valid' : 'invalid'] += 1;
        if (isOurs(document) !== isValid) expect.fail(`seed ${SEED}, valid: ${isValid}: ${JSON.stringify(document)}`);
      }
      expect(seen.valid, `seed ${SEED}`).toBeGreaterThan(1);
      expect(seen.invalid, `seed ${SEED}`).toBeGreaterThan(1);
    },
  );
});

function merged(one: unknown, other: unknown): unknown {
  if (!isJsonObject(one) || !isJsonObject(other)) return other;
  const common = Object.keys(one).filter((name) => Object.hasOwn(other, name));
  return { ...one, ...other, ...Object.fromEntries(common.map((name) => [name, merged(one[name], other[name])])) };
}
