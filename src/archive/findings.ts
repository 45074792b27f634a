// What a verification found about one stream, in sentences, and bounded: a ruined stream is told by its first faults and
// their number.
import { canonicalText } from '../wire/canonical.ts';

/** Sentences kept of a stream; the rest is counted. */
const KEPT_MAXIMUM = 20;

export class Findings {
  readonly faults: string[] = [];
  /** What is no fault, and worth knowing: keys that were revoked later. */
  readonly notes: string[] = [];
  private told = 0;
  private readonly seen = new Set<string>();

  fault(sentence: string): void {
    this.told += 1;
    if (this.faults.length < KEPT_MAXIMUM) this.faults.push(sentence);
  }

  /** Each once. */
  note(sentence: string): void {
    if (this.seen.has(sentence) || this.notes.length >= KEPT_MAXIMUM) return;
    this.seen.add(sentence);
    this.notes.push(sentence);
  }

  get count(): number {
    return this.told;
  }

  /** The sentences, and how many more there would have been. */
  sentences(): string[] {
    const more = this.told - this.faults.length;
    return more === 0 ? this.faults : [...this.faults, `and ${more} faults more`];
  }
}

/** Names the columns of a row that are not what they should be. */
export function compareColumns(
  findings: Findings,
  where: string,
  row: object,
  expected: Readonly<Record<string, unknown>>,
): void {
  const differing = Object.entries(expected)
    .filter(([name, value]) => !isSame((row as Record<string, unknown>)[name], value))
    .map(([name]) => name);
  if (differing.length > 0) findings.fault(`${where}: not what was signed in ${differing.join(', ')}`);
}

function isSame(a: unknown, b: unknown): boolean {
  const isObject = typeof a === 'object' && a !== null && typeof b === 'object' && b !== null;
  return isObject ? canonicalText(a) === canonicalText(b) : a === b;
}
