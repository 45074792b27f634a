// Token buckets against a clock that the test moves.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '../../src/http/limits/token-buckets.ts';

describe('token buckets', () => {
  it('what they say of the next token is exact, and over any time they let no more through than they hold', () => {
    const step = fc.integer({ min: 0, max: 3_000 });
    const rate = fc.record({
      perSecond: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(rate, fc.array(step, { maxLength: 200 }), (limit, steps) => {
        let now = 0;
        const buckets = new TokenBuckets(() => now);
        const draws = [{ name: 'a', rate: limit }];
        let taken = 0;
        for (const milliseconds of steps) {
          now += milliseconds;
          const wait = buckets.take(draws);
          if (wait === 0) {
            taken += 1;
            continue;
          }
          expect(buckets.wait(draws)).toBe(wait);
          now += wait - 1;
          expect(buckets.wait(draws)).toBe(1);
          now += 1;
          expect(buckets.take(draws)).toBe(0);
          taken += 1;
        }
        expect(taken).toBeLessThanOrEqual(limit.burst + (now / 1_000) * limit.perSecond + 1e-6);
      }),
    );
  });

  it('nothing is taken from one when another is empty', () => {
    const buckets = new TokenBuckets(() => 0);
    const rate = { perSecond: 1, burst: 1 };
    const [a, b] = [
      { name: 'a', rate },
      { name: 'b', rate },
    ];
    expect(buckets.take([b])).toBe(0);
    expect(buckets.take([a, b])).toBe(1_000);
    expect(buckets.take([a])).toBe(0);
  });

  it('memory is bounded: the one that was not used for longest is forgotten', () => {
    const buckets = new TokenBuckets(() => 0, 2);
    const draw = (name: string) => [{ name, rate: { perSecond: 1, burst: 2 } }];
    for (const name of ['a', 'b', 'a', 'c']) expect(buckets.take(draw(name))).toBe(0);
    expect(buckets.size).toBe(2);
    expect(buckets.take(draw('a'))).toBe(1_000);
    expect(buckets.take(draw('b'))).toBe(0);
  });
});
