// `mwp conformance --bundle DIR`: runs the three parts offline, digests first, and prints what passed and what did not.

import { runAdmission } from './admission.ts';
import { BundleFault, openBundle, PARTS, type Bundle, type Part } from './bundle.ts';
import { runCryptography } from './cryptography.ts';
import type { PartReport } from './report.ts';
import { runStructural } from './structural.ts';

export interface ConformanceSummary {
  readonly passed: number;
  readonly total: number;
}

export interface ConformanceResult {
  /** `structural 58/58` and so on, one a part. */
  readonly lines: readonly string[];
  readonly failures: readonly string[];
  readonly summary: Readonly<Record<Part, ConformanceSummary>>;
}

const RUNNERS: Readonly<Record<Part, (bundle: Bundle) => PartReport | Promise<PartReport>>> = {
  structural: runStructural,
  cryptography: runCryptography,
  admission: runAdmission,
};

/** A part whose files or digests are wrong counts as 0/0 with the fault as its failure; the others still run. */
export async function runConformance(bundleDir: string): Promise<ConformanceResult> {
  const nothing: ConformanceSummary = { passed: 0, total: 0 };
  const summary = { structural: nothing, cryptography: nothing, admission: nothing };
  const lines: string[] = [];
  const failures: string[] = [];
  for (const part of PARTS) {
    try {
      const report = await RUNNERS[part](openBundle(bundleDir));
      summary[part] = { passed: report.passed, total: report.total };
      failures.push(...report.failures);
      if (report.total === 0) failures.push(`${part}: no evaluations`);
    } catch (error) {
      if (!(error instanceof BundleFault)) throw error;
      failures.push(`${part}: ${error.message}`);
    }
    lines.push(`${part} ${summary[part].passed}/${summary[part].total}`);
  }
  return { lines, failures, summary };
}

const USAGE = 'usage: mwp conformance --bundle DIR';

/** Exit code: 0 all as published, 1 a mismatch, 2 wrong arguments. */
export async function conformanceCommand(
  args: readonly string[],
  print: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): Promise<number> {
  const [flag, folder] = args;
  if (flag !== '--bundle' || folder === undefined || args.length !== 2) {
    print(USAGE);
    return 2;
  }
  const { lines, failures } = await runConformance(folder);
  for (const line of [...lines, ...failures]) print(line);
  return failures.length === 0 ? 0 : 1;
}
