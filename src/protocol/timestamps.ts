// The exact timestamp profile (MWP-FND-004b to -005b): RFC 3339 text to instants in which every fractional digit
// counts. It never rewrites received text; it knows no clock.

/** `fraction` holds the digits after the point without trailing zeros, so equal instants have equal members. */
export interface Instant {
  readonly epochSeconds: number;
  readonly fraction: string;
}

const TIMESTAMP =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const EARLIEST_MS = -62_135_596_800_000; // 0001-01-01T00:00:00Z
const LATEST_MS = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z

/** The exact instant, or undefined where the text is outside the profile. */
export function parseTimestamp(text: string): Instant | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  const hour = Number(match[4]);
  const minute = Number(match[5]);
  const second = Number(match[6]);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  let epochSeconds = daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  if (match[8] !== undefined) {
    const offsetHour = Number(match[9]);
    const offsetMinute = Number(match[10]);
    if (offsetHour > 23 || offsetMinute > 59) return undefined;
    const offset = offsetHour * 3600 + offsetMinute * 60;
    if (match[8] === '-') {
      if (offset === 0) return undefined; // -00:00 means "local offset unknown": no instant
      epochSeconds += offset;
    } else {
      epochSeconds -= offset;
    }
  }
  return { epochSeconds, fraction: match[7] === undefined ? '' : withoutTrailingZeros(match[7]) };
}

export function isTimestamp(text: string): boolean {
  return parseTimestamp(text) !== undefined;
}

/** The narrower form of the two protected times: capital `Z` (MWP-FND-005c). A lower-case `t` stays allowed. */
export function isCapitalZ(text: string): boolean {
  return text.endsWith('Z');
}

/** Negative, zero or positive, as for Array.prototype.sort. */
export function compareInstants(a: Instant, b: Instant): number {
  if (a.epochSeconds !== b.epochSeconds) return a.epochSeconds < b.epochSeconds ? -1 : 1;
  if (a.fraction === b.fraction) return 0;
  return a.fraction < b.fraction ? -1 : 1;
}

/** Compares two texts that already passed the profile. Texts outside it are a broken invariant and throw. */
export function compareTimestamps(a: string, b: string): number {
  if (a === b) return 0;
  // Two `…T…Z` spellings of equal length have equally many digits in each place, so text order is time order.
  if (a.length === b.length && a[10] === 'T' && b[10] === 'T' && isCapitalZ(a) && isCapitalZ(b)) return a < b ? -1 : 1;
  return compareInstants(requireInstant(a), requireInstant(b));
}

export function isBefore(a: string, b: string): boolean {
  return compareTimestamps(a, b) < 0;
}

/** Half-open: start is inside, end is not. */
export function isWithin(text: string, start: string, end: string): boolean {
  return compareTimestamps(start, text) <= 0 && compareTimestamps(text, end) < 0;
}

export function earlierTimestamp(a: string, b: string): string {
  return compareTimestamps(b, a) < 0 ? b : a;
}

export function laterTimestamp(a: string, b: string): string {
  return compareTimestamps(b, a) > 0 ? b : a;
}

/** Whole milliseconds since 1970, digits beyond the third cut off. For arithmetic, never for comparing. */
export function millisFromTimestamp(text: string): number {
  const instant = requireInstant(text);
  return instant.epochSeconds * 1000 + Number(instant.fraction.slice(0, 3).padEnd(3, '0'));
}

/** `…Z` with three fractional digits. Times outside the years 0001 to 9999 stop at that edge. */
export function timestampFromMillis(millis: number): string {
  return new Date(Math.min(Math.max(millis, EARLIEST_MS), LATEST_MS)).toISOString();
}

export function instantFromMillis(millis: number): Instant {
  const epochSeconds = Math.floor(millis / 1000);
  const rest = Math.trunc(millis - epochSeconds * 1000);
  return { epochSeconds, fraction: withoutTrailingZeros(String(rest).padStart(3, '0')) };
}

/** `text` plus that many seconds (negative and fractional allowed), as `…Z` of millisecond precision. */
export function addSeconds(text: string, seconds: number): string {
  return timestampFromMillis(millisFromTimestamp(text) + Math.round(seconds * 1000));
}

function requireInstant(text: string): Instant {
  const instant = parseTimestamp(text);
  if (instant === undefined) throw new RangeError('a timestamp outside the profile reached a comparison');
  return instant;
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar. Date.UTC reads years below 100 as 19xx. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1; // years that begin in March put the leap day last
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
