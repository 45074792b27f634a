// The exact timestamp profile (MWP-FND-004b to -005b): RFC 3339 text to instants in which every fractional digit
// counts. It never rewrites received text; it knows no clock.

/** `fraction` holds the digits after the point without trailing zeros, so equal instants have equal members. */
export interface Instant {
  readonly epochSeconds: number;
  readonly fraction: string;
}

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const EARLIEST_MS = -62_135_596_800_000; // 0001-01-01T00:00:00Z
const LATEST_MS = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z

/** The exact instant, or undefined where the text is outside the profile. Read by unit: every signed document asks often. */
export function parseTimestamp(text: string): Instant | undefined {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  if (!hasSeparators(text)) return undefined;
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  let end = SECONDS_END;
  if (text.charCodeAt(end) === POINT) {
    do end += 1;
    while (isDigit(text.charCodeAt(end)));
    if (end === SECONDS_END + 1) return undefined;
  }
  const offsetSeconds = readOffset(text, end);
  if (offsetSeconds === undefined) return undefined;
  const ofDay = hour * 3600 + minute * 60 + second;
  return {
    epochSeconds: daysFromCivil(year, month, day) * 86_400 + ofDay - offsetSeconds,
    fraction: end === SECONDS_END ? '' : withoutTrailingZeros(text.slice(SECONDS_END + 1, end)),
  };
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

/** Where `YYYY-MM-DDTHH:MM:SS` ends. */
const SECONDS_END = 19;
const [ZERO, NINE, HYPHEN, COLON, POINT, PLUS] = [0x30, 0x39, 0x2d, 0x3a, 0x2e, 0x2b];
/** `t`, `z` and their capitals differ in this bit. */
const LOWER_CASE = 0x20;
const [SMALL_T, SMALL_Z] = [0x74, 0x7a];

function hasSeparators(text: string): boolean {
  return (
    text.charCodeAt(4) === HYPHEN &&
    text.charCodeAt(7) === HYPHEN &&
    (text.charCodeAt(10) | LOWER_CASE) === SMALL_T &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON
  );
}

/** Seconds east of UTC, of the zone that begins at `start` and ends the text. */
function readOffset(text: string, start: number): number | undefined {
  const sign = text.charCodeAt(start);
  if ((sign | LOWER_CASE) === SMALL_Z) return text.length === start + 1 ? 0 : undefined;
  if (sign !== PLUS && sign !== HYPHEN) return undefined;
  if (text.length !== start + 6 || text.charCodeAt(start + 3) !== COLON) return undefined;
  const hour = digits(text, start + 1, 2);
  const minute = digits(text, start + 4, 2);
  if (hour > 23 || minute > 59) return undefined;
  const seconds = hour * 3600 + minute * 60;
  if (sign === PLUS) return seconds;
  return seconds === 0 ? undefined : -seconds; // -00:00 means "local offset unknown": no instant
}

/** The number that so many ASCII digits spell; Infinity, which is above every bound, where one of them is none. */
function digits(text: string, start: number, count: number): number {
  let number = 0;
  for (let index = start; index < start + count; index += 1) {
    const unit = text.charCodeAt(index);
    if (!isDigit(unit)) return Infinity;
    number = number * 10 + (unit - ZERO);
  }
  return number;
}

/** False past the end, where the unit is NaN. */
function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
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
