import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addSeconds,
  compareInstants,
  compareTimestamps,
  earlierTimestamp,
  instantFromMillis,
  isCapitalZ,
  isTimestamp,
  isWithin,
  laterTimestamp,
  millisFromTimestamp,
  parseTimestamp,
  timestampFromMillis,
} from '../../src/protocol/timestamps.ts';

describe('the timestamp profile', () => {
  it.each([
    ['2026-02-30T00:00:00Z', 'a day that is not'],
    ['2025-02-29T00:00:00Z', 'a leap day in a common year'],
    ['1900-02-29T00:00:00Z', 'a leap day in a common century'],
    ['2026-00-10T00:00:00Z', 'month 0'],
    ['2026-13-10T00:00:00Z', 'month 13'],
    ['2026-04-31T00:00:00Z', '31 April'],
    ['2026-01-00T00:00:00Z', 'day 0'],
    ['2026-01-01T23:59:60Z', 'a leap second'],
    ['2026-01-01T24:00:00Z', 'hour 24'],
    ['2026-01-01T00:60:00Z', 'minute 60'],
    ['0000-01-01T00:00:00Z', 'year 0000'],
    ['2026-01-01T00:00:00-00:00', 'the unknown local offset'],
    ['2026-01-01T00:00:00+24:00', 'offset hour 24'],
    ['2026-01-01T00:00:00+05:60', 'offset minute 60'],
    ['2026-01-01T00:00:00', 'no offset'],
    ['2026-01-01 00:00:00Z', 'a blank for T'],
    ['2026-1-1T00:00:00Z', 'one-digit month'],
    ['2026-01-01T00:00:00Z\n', 'a final newline'],
    ['+2026-01-01T00:00:00Z', 'a sign'],
    ['２026-01-01T00:00:00Z', 'a digit that is not ASCII'],
  ])('MWP-FND-004b: %s is refused (%s)', (text) => {
    expect(isTimestamp(text)).toBe(false);
  });

  it.each(['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '2024-02-29T00:00:00Z', '2000-02-29T00:00:00Z'])(
    'MWP-FND-004b: %s is accepted',
    (text) => {
      expect(isTimestamp(text)).toBe(true);
    },
  );

  it('MWP-FND-004c: a fraction needs a digit, and the twelfth digit still orders', () => {
    expect(isTimestamp('2026-01-01T00:00:00.Z')).toBe(false);
    expect(isTimestamp('2026-01-01T00:00:00,5Z')).toBe(false);
    expect(compareTimestamps('2026-01-01T00:00:00.000000000001Z', '2026-01-01T00:00:00.000000000002Z')).toBe(-1);
    expect(compareTimestamps('2026-01-01T00:00:00.000000000001Z', '2026-01-01T00:00:00Z')).toBe(1);
    expect(compareTimestamps('2026-01-01T00:00:00.2Z', '2026-01-01T00:00:00.12Z')).toBe(1);
  });

  it('MWP-FND-005a: lower-case t and z and every legal offset name instants', () => {
    expect(compareTimestamps('2026-01-01t05:30:00+05:30', '2026-01-01T00:00:00z')).toBe(0);
    expect(compareTimestamps('2026-07-14T00:01:00-23:59', '2026-07-15T00:00:00Z')).toBe(0);
    expect(compareTimestamps('2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00Z')).toBe(0);
  });

  it('MWP-FND-005b: trailing zeros and an absent fraction change nothing', () => {
    expect(parseTimestamp('2026-01-01T00:00:00.500Z')).toEqual(parseTimestamp('2026-01-01T00:00:00.5Z'));
    expect(parseTimestamp('2026-01-01T00:00:00.000Z')).toEqual(parseTimestamp('2026-01-01T00:00:00Z'));
  });

  it('MWP-FND-005c: only a capital Z counts as the protected form', () => {
    expect(isCapitalZ('2026-01-01t00:00:00Z')).toBe(true);
    expect(isCapitalZ('2026-01-01T00:00:00z')).toBe(false);
    expect(isCapitalZ('2026-01-01T00:00:00+00:00')).toBe(false);
  });

  it('MWP-SDV-014a: an interval holds its start and not its end', () => {
    const [start, end] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    expect(isWithin(start, start, end)).toBe(true);
    expect(isWithin('2026-01-01T23:59:59.999999999Z', start, end)).toBe(true);
    expect(isWithin(end, start, end)).toBe(false);
    expect(isWithin('2025-12-31T23:59:59.9Z', start, end)).toBe(false);
  });

  it('MWP-FND-004c: a text outside the profile never reaches a comparison unnoticed', () => {
    expect(() => compareTimestamps('2026-01-01T00:00:00Z', 'yesterday')).toThrow(RangeError);
  });
});

const anyInstant = fc.record({
  millis: fc.integer({ min: -62_135_510_400_000, max: 253_402_214_400_000 }),
  fraction: fc.stringMatching(/^[0-9]{0,15}$/),
  offsetMinutes: fc.integer({ min: -1439, max: 1439 }),
  letters: fc.constantFrom(['T', 'Z'], ['t', 'z']),
});

/** One instant spelled with its own offset, letters and fraction, and its value in 10^-15 seconds. */
function spell(of: { millis: number; fraction: string; offsetMinutes: number; letters: readonly string[] }) {
  const seconds = Math.floor(of.millis / 1000);
  const local = new Date((seconds + of.offsetMinutes * 60) * 1000).toISOString().slice(0, 19);
  const minutes = Math.abs(of.offsetMinutes);
  const offset =
    of.offsetMinutes === 0
      ? (of.letters[1] ?? 'Z')
      : `${of.offsetMinutes < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const text = `${local.replace('T', of.letters[0] ?? 'T')}${of.fraction === '' ? '' : `.${of.fraction}`}${offset}`;
  return { text, exact: BigInt(seconds) * 10n ** 15n + BigInt(of.fraction.padEnd(15, '0')) };
}

/** The profile as one expression and the platform's calendar: slower than what the service reads by, and easier to believe. */
function isInProfile(text: string): boolean {
  const grammar =
    /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|\+(?:[01]\d|2[0-3]):[0-5]\d|-(?!00:00)(?:[01]\d|2[0-3]):[0-5]\d)$/;
  const [year = 0, month = 0, day = 0] = (grammar.exec(text)?.slice(1, 4) ?? []).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

describe('what is a timestamp', () => {
  it('MWP-FND-004b: a text with one unit changed, added, dropped or doubled is judged as the grammar judges it', () => {
    const judged = { in: 0, out: 0 };
    const unit = fc.constantFrom(...'0123456789-:.,TtZz+ \n\u0000\u0130\u0660\uff10\u0154');
    const edit = fc.constantFrom('change', 'add', 'drop', 'double', 'none');
    const days = fc.record({
      millis: fc.constantFrom(
        ...['0001-01-02', '1900-02-28', '2000-02-29', '2023-12-31'].map((day) => Date.parse(day)),
      ),
      fraction: fc.stringMatching(/^[0-9]{0,3}$/),
      offsetMinutes: fc.constantFrom(0, 0, 1439, -1439, 60, -1),
      letters: fc.constantFrom(['T', 'Z'], ['t', 'z']),
    });
    fc.assert(
      fc.property(fc.oneof(days, anyInstant), edit, unit, fc.nat(40), (instant, how, other, place) => {
        const { text } = spell(instant);
        const at = place % text.length;
        const [before, here, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
        const spelled = { change: other, add: other + here, drop: '', double: here + here, none: here }[how] ?? here;
        const edited = before + spelled + after;
        expect(isTimestamp(edited), edited).toBe(isInProfile(edited));
        judged[isInProfile(edited) ? 'in' : 'out'] += 1;
      }),
      { numRuns: 5_000 },
    );
    expect(Math.min(judged.in, judged.out)).toBeGreaterThan(500);
  });
});

describe('exact comparison', () => {
  it('MWP-FND-004c: text comparison agrees with exact integers for every spelling', () => {
    fc.assert(
      fc.property(anyInstant, anyInstant, (first, second) => {
        const [a, b] = [spell(first), spell(second)];
        const expected = a.exact < b.exact ? -1 : a.exact > b.exact ? 1 : 0;
        expect(Math.sign(compareTimestamps(a.text, b.text))).toBe(expected);
        expect(earlierTimestamp(a.text, b.text)).toBe(expected <= 0 ? a.text : b.text);
        expect(laterTimestamp(a.text, b.text)).toBe(expected >= 0 ? a.text : b.text);
      }),
      { numRuns: 500 },
    );
  });

  it('MWP-FND-004c: comparison of near instants agrees too', () => {
    const near = fc.record({
      millis: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_002_000 }),
      fraction: fc.stringMatching(/^[01]{0,4}$/),
      offsetMinutes: fc.constantFrom(0, 60),
      letters: fc.constantFrom(['T', 'Z'], ['t', 'z'], ['t', 'Z']),
    });
    fc.assert(
      fc.property(near, near, (first, second) => {
        const [a, b] = [spell(first), spell(second)];
        const expected = a.exact < b.exact ? -1 : a.exact > b.exact ? 1 : 0;
        expect(Math.sign(compareTimestamps(a.text, b.text))).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('MWP-FND-004b: milliseconds round-trip through text and instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (millis) => {
        const text = timestampFromMillis(millis);
        expect(isTimestamp(text)).toBe(true);
        expect(millisFromTimestamp(text)).toBe(millis);
        const instant = parseTimestamp(text);
        expect(instant).toBeDefined();
        if (instant !== undefined) expect(compareInstants(instant, instantFromMillis(millis))).toBe(0);
      }),
    );
  });

  it('MWP-FND-004b: adding seconds stays inside the profile at both edges', () => {
    expect(addSeconds('2026-01-01T00:00:00+01:00', 90)).toBe('2025-12-31T23:01:30.000Z');
    expect(addSeconds('2026-01-01T00:00:00.0019Z', -0.5)).toBe('2025-12-31T23:59:59.501Z');
    expect(addSeconds('9999-12-31T23:59:59Z', 3600)).toBe('9999-12-31T23:59:59.999Z');
    expect(addSeconds('0001-01-01T00:00:00Z', -1)).toBe('0001-01-01T00:00:00.000Z');
  });
});
