// Random documents of the published schemas, whole and damaged: ours and the official ones take the same of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutatedValue } from '../fuzz/mutations.ts';
import { Random } from '../fuzz/random.ts';
import { documentsOf } from './official-json.ts';
import { DOCUMENTS, hasBundle } from './official-schemas.ts';

const DAMAGED = 8;
const RUNS = 250;

describe.runIf(hasBundle)('random documents', () => {
  it.each(DOCUMENTS)('MWP-FND-004a, MWP-SDV-015c: $name: 2250 are judged alike', ({ name, isOurs, isOfficial }) => {
    const seen = { whole: 0, damaged: 0, refused: 0, unjudged: 0 };
    fc.assert(
      fc.property(documentsOf(name), fc.nat(), (document, seed) => {
        const isValid = isOfficial(document);
        expect(isOurs(document)).toBe(isValid);
        if (isValid) seen.whole += 1;
        for (let number = 0; number < DAMAGED; number += 1) {
          // One step, or most would be wrong in several ways.
          const damaged = mutatedValue(document, new Random(seed, number), 1);
          const isStillValid = isOfficial(damaged);
          if (isStillValid !== undefined && isOurs(damaged) !== isStillValid)
            expect.fail(`valid: ${String(isStillValid)}: ${JSON.stringify(damaged)}`);
          seen[isStillValid === undefined ? 'unjudged' : isStillValid ? 'damaged' : 'refused'] += 1;
        }
      }),
      { numRuns: RUNS }, // fast-check prints seed and path of a failure
    );
    expect(seen.whole).toBeGreaterThan(RUNS / 3);
    expect(seen.damaged).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(RUNS / 3);
    expect(seen.unjudged).toBeLessThan(RUNS / 10);
  });
});
