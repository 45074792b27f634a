// What a chapter did and what was found, and the table of all of them.
import type { Findings } from './examine/examination.ts';

/** Sentences shown of one chapter; the rest is counted. */
const SHOWN_MAXIMUM = 20;

export class Tally {
  readonly engine: string;
  readonly chapter: string;
  faults = 0;
  unanswered = 0;
  happened = 0;
  violations = 0;
  skipped: string | undefined;
  private readonly begun = performance.now();
  private ended = 0;

  constructor(engine: string, chapter: string) {
    this.engine = engine;
    this.chapter = chapter;
  }

  /** One fault, survived or not. */
  fault(): void {
    this.faults += 1;
  }

  add({ violations, unanswered, happened }: Findings): void {
    this.unanswered += unanswered;
    this.happened += happened;
    for (const violation of violations) this.violation(violation);
  }

  violation(sentence: string): void {
    this.violations += 1;
    if (this.violations <= SHOWN_MAXIMUM) console.log(`  ✗ ${this.engine}, ${this.chapter}: ${sentence}`);
  }

  /** Something that must be so, and was looked at. */
  expect(holds: boolean, sentence: string): void {
    if (!holds) this.violation(sentence);
  }

  /** Never silently. */
  skip(why: string): void {
    this.skipped = why;
    console.log(`  ${this.engine}, ${this.chapter}: skipped, ${why}`);
    this.end();
  }

  end(): void {
    this.ended = performance.now();
  }

  get seconds(): number {
    return (this.ended - this.begun) / 1_000;
  }
}

export function printTable(tallies: readonly Tally[]): void {
  const head = ['store', 'chapter', 'faults', 'unanswered', 'of these happened', 'violations', 'seconds'];
  const sorted = [...tallies].sort((a, b) => a.engine.localeCompare(b.engine));
  const rows = sorted.map((tally) => [
    tally.engine,
    tally.chapter,
    String(tally.faults),
    String(tally.unanswered),
    String(tally.happened),
    tally.skipped === undefined ? String(tally.violations) : 'skipped',
    tally.seconds.toFixed(1),
  ]);
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  const isText = (column: number) => column < 2;
  for (const row of [head, ...rows]) {
    const cells = row.map((cell, at) => (isText(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)));
    console.log(cells.join('  '));
  }
}
