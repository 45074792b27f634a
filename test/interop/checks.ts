// One line per check, and the count at the end.
import { isDeepStrictEqual } from 'node:util';

/** What comes after cannot be played, so this part of the run ends. */
export class Stopped extends Error {}

const FAULTS_SHOWN = 20;
const LONGEST_WORDS = 600;

export class Checks {
  private passed = 0;
  private failed = 0;

  equal(claim: string, found: unknown, expected: unknown): boolean {
    const passed = isDeepStrictEqual(found, expected);
    return this.record(claim, passed ? [] : [`expected  ${inWords(expected)}`, `found     ${inWords(found)}`]);
  }

  /** Holds for each of many things; `faults` says where it does not. */
  none(claim: string, faults: readonly string[]): boolean {
    return this.record(claim, faults);
  }

  /** For what the rest stands on. */
  mustEqual(claim: string, found: unknown, expected: unknown): void {
    if (!this.equal(claim, found, expected)) throw new Stopped(claim);
  }

  /** Runs one part; whatever it throws is a failed check, and the next part still runs. */
  async part(name: string, run: () => void | Promise<void>): Promise<void> {
    console.log(`\n${name}`);
    try {
      await run();
    } catch (error) {
      const words = error instanceof Stopped ? error.message : error instanceof Error ? error.stack : String(error);
      this.record(`${name}: runs to its end`, [`stopped at: ${words}`]);
    }
  }

  /** Prints the last line; true when nothing failed. */
  verdict(): boolean {
    console.log(`\n${this.passed} checks passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0;
  }

  private record(claim: string, faults: readonly string[]): boolean {
    const passed = faults.length === 0;
    if (passed) this.passed += 1;
    else this.failed += 1;
    console.log(`${passed ? 'ok  ' : 'FAIL'}  ${claim}`);
    for (const fault of faults.slice(0, FAULTS_SHOWN)) console.log(`        ${fault}`);
    if (faults.length > FAULTS_SHOWN) console.log(`        and ${faults.length - FAULTS_SHOWN} more`);
    return passed;
  }
}

function inWords(value: unknown): string {
  const words = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return words.length <= LONGEST_WORDS ? words : `${words.slice(0, LONGEST_WORDS)}…`;
}
