// What a run found: passed of total per part, and each mismatch by case, expected and found.

import { BundleFault } from './folder.ts';

export interface PartReport {
  passed: number;
  total: number;
  readonly failures: string[];
}

export function emptyReport(): PartReport {
  return { passed: 0, total: 0, failures: [] };
}

/**
 * `judge` answers undefined where the evaluation came out as its manifest says, else what differs. A file that is whole by
 * its digest and yet no file of its kind is a failure of the one case that reads it.
 */
export async function evaluate(
  report: PartReport,
  name: string,
  judge: () => Promise<string | undefined> | string | undefined,
): Promise<void> {
  report.total += 1;
  const mismatch = await answerOf(judge);
  if (mismatch === undefined) report.passed += 1;
  else report.failures.push(`${name}: ${mismatch}`);
}

async function answerOf(judge: () => Promise<string | undefined> | string | undefined): Promise<string | undefined> {
  try {
    return await judge();
  } catch (error) {
    if (error instanceof BundleFault) return error.message;
    throw error;
  }
}

export function expectedFound(expected: string, found: string): string | undefined {
  return expected === found ? undefined : `expected ${expected}, found ${found}`;
}
