// The admission part: first admission and replay against a log and a trusted clock that answer as each evaluation says,
// and that count how often they were asked.

import { admitDocument, replayAdmission, type Admission } from '../../trust/admission.ts';
import type { AdmissionAppend, AdmissionLog, AdmissionLookup, TrustedContext } from '../../trust/admission-log.ts';
import type { Verified } from '../../trust/verify.ts';
import { canonicalText } from '../../wire/canonical.ts';
import { verifyFile } from './cryptography.ts';
import { BundleFault } from './folder.ts';
import type { CheckedFiles } from './integrity.ts';
import type { AdmissionEvaluation, AdmissionManifest } from './manifests.ts';
import { emptyReport, evaluate, expectedFound, type PartReport } from './report.ts';

export async function runAdmission(files: CheckedFiles, manifest: AdmissionManifest): Promise<PartReport> {
  const report = emptyReport();
  for (const { id, evaluations } of manifest.cases) {
    for (const evaluation of evaluations) {
      await evaluate(report, `admission ${id} ${evaluation.id}`, () => judge(files, evaluation));
    }
  }
  return report;
}

async function judge(files: CheckedFiles, evaluation: AdmissionEvaluation): Promise<string | undefined> {
  const verified = await verifyFile(files, evaluation.profileId, evaluation);
  if (!verified.ok) return `expected the six stages to pass, found ${verified.diagnostic.forAudit().stage}`;
  const asked = { lookup: 0, trustedContext: 0, append: 0 };
  const admission = await admit(files, evaluation, verified, asked);
  const absent = evaluation.mode === 'first-admission' && evaluation.lookup.status === 'authoritative-absence';
  const expectedAsked = { lookup: 1, trustedContext: absent ? 1 : 0, append: absent && evaluation.append ? 1 : 0 };
  return (
    expectedFound(describeExpected(files, evaluation), describeFound(admission)) ??
    expectedFound(`calls ${canonicalText(expectedAsked)}`, `calls ${canonicalText(asked)}`)
  );
}

function admit(
  files: CheckedFiles,
  evaluation: AdmissionEvaluation,
  verified: Verified,
  asked: { lookup: number; trustedContext: number; append: number },
): Promise<Admission> {
  const log: AdmissionLog = {
    async lookup(): Promise<AdmissionLookup> {
      asked.lookup += 1;
      const { lookup } = evaluation;
      if (lookup.status === 'found') return { outcome: 'found', ...loggedRecord(files, lookup) };
      return { outcome: lookup.status === 'authoritative-absence' ? 'absent' : lookup.status };
    },
    async appendOrGetExisting(candidate): Promise<AdmissionAppend> {
      asked.append += 1;
      const { append } = evaluation;
      if (append === null) throw new BundleFault(`${evaluation.id} expects no append`);
      if (append.status !== 'committed' && append.status !== 'existing') return { outcome: append.status };
      const differs = canonicalText(candidate) !== canonicalText(files.readJson(append.record));
      if (append.status === 'committed' && differs) return { outcome: 'commit-failed' };
      return { outcome: append.status, ...loggedRecord(files, append) };
    },
  };
  const trustedContext = (): TrustedContext => {
    asked.trustedContext += 1;
    if (evaluation.trustedContext === null) throw new BundleFault(`${evaluation.id} has no trusted context`);
    return evaluation.trustedContext;
  };
  return evaluation.mode === 'first-admission'
    ? admitDocument(verified, log, trustedContext)
    : replayAdmission(verified, log);
}

function loggedRecord(files: CheckedFiles, outcome: { record: string; authenticatedService: Verified['principal'] }) {
  return { record: { bytes: files.read(outcome.record) }, authenticatedService: outcome.authenticatedService };
}

function describeExpected(files: CheckedFiles, { expect }: AdmissionEvaluation): string {
  const result = expect.record === undefined ? expect.reason : canonicalText(files.readJson(expect.record));
  return `${expect.stage} ${expect.wireCode ?? 'no code'} ${result ?? ''}`;
}

function describeFound(admission: Admission): string {
  if (admission.ok) return `complete no code ${canonicalText(admission.record)}`;
  const { stage, reason } = admission.diagnostic.forAudit();
  return `${stage} ${admission.refusal.code} ${reason}`;
}
