// Runs the three parts of a bundle offline: first whether it is what it says, then its cases.

import { runAdmission } from './admission.ts';
import { runCryptography } from './cryptography.ts';
import { MANIFEST_OF_PART, openFolder, PARTS, type Part } from './folder.ts';
import { checkBundle, type CheckedBundle } from './integrity.ts';
import { noticeOf } from './release.ts';
import type { PartReport } from './report.ts';
import { runStructural } from './structural.ts';

export interface ConformanceResult {
  /** `structural 58/58` and so on, one a part. */
  readonly lines: readonly string[];
  /** Where the bundle is of another revision than the one that this release was built against. No failure. */
  readonly notices: readonly string[];
  readonly failures: readonly string[];
}

/** Throws BundleFault, and runs nothing, where a file of the bundle is not as its manifest says. */
export async function runConformance(folder: string): Promise<ConformanceResult> {
  const bundle = checkBundle(openFolder(folder));
  const lines: string[] = [];
  const notices: string[] = [];
  const failures: string[] = [];
  for (const part of PARTS) {
    const report = await runPart(part, bundle);
    lines.push(`${part} ${report?.passed ?? 0}/${report?.total ?? 0}`);
    if (report === undefined) {
      failures.push(`${part}: the bundle has no ${MANIFEST_OF_PART[part]}, so nothing of this part was run`);
      continue;
    }
    const notice = noticeOf(part, { evaluations: report.total, digest: bundle.digests[part] ?? 'none' });
    if (notice !== undefined) notices.push(notice);
    failures.push(...report.failures);
  }
  return { lines, notices, failures };
}

async function runPart(part: Part, bundle: CheckedBundle): Promise<PartReport | undefined> {
  switch (part) {
    case 'structural':
      return bundle.structural && runStructural(bundle, bundle.structural);
    case 'cryptography':
      return bundle.cryptography && runCryptography(bundle, bundle.cryptography);
    case 'admission':
      return bundle.admission && runAdmission(bundle, bundle.admission);
  }
}
