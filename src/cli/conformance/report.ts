// What a run found: passed of total per part, and each mismatch by case, expected and found.

export interface PartReport {
  passed: number;
  total: number;
  readonly failures: string[];
}

export function emptyReport(): PartReport {
  return { passed: 0, total: 0, failures: [] };
}

/** `mismatch` is undefined where the evaluation came out as its manifest says. */
export function record(report: PartReport, name: string, mismatch: string | undefined): void {
  report.total += 1;
  if (mismatch === undefined) report.passed += 1;
  else report.failures.push(`${name}: ${mismatch}`);
}

export function expectedFound(expected: string, found: string): string | undefined {
  return expected === found ? undefined : `expected ${expected}, found ${found}`;
}
