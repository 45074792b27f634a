// The admission part: first admission and replay against a log and a trusted clock that answer as each evaluation says,
// and that count how often they were asked.

import { z } from 'zod';
import { SIGNED_DOCUMENT_KINDS } from '../../protocol/kinds.ts';
import { admitDocument, replayAdmission, type Admission } from '../../trust/admission.ts';
import type { AdmissionAppend, AdmissionLog, AdmissionLookup, TrustedContext } from '../../trust/admission-log.ts';
import type { Verified } from '../../trust/verify.ts';
import { canonicalText } from '../../wire/canonical.ts';
import { BundleFault, checkDigests, MANIFEST_OF_PART, type Bundle } from './bundle.ts';
import { readCryptographyManifest, verifyFile } from './cryptography.ts';
import { emptyReport, expectedFound, record, type PartReport } from './report.ts';

const principalShape = z.object({ type: z.enum(['agent', 'human', 'service']), id: z.string() });
const logged = { record: z.string(), authenticatedService: principalShape };
const failing = ['unauthenticated', 'integrity-failed', 'unavailable', 'indeterminate'] as const;
const evaluationShape = z.object({
  id: z.string(),
  profileId: z.enum(SIGNED_DOCUMENT_KINDS),
  mode: z.enum(['first-admission', 'historical-replay']),
  document: z.string(),
  registry: z.string(),
  trustedContext: z
    .object({ admissionRecordId: z.string(), trustedAcceptedAt: z.string(), acceptedBy: principalShape })
    .nullable(),
  lookup: z.discriminatedUnion('status', [
    z.object({ status: z.literal('found'), ...logged }),
    z.object({ status: z.enum(['authoritative-absence', ...failing]) }),
  ]),
  append: z
    .discriminatedUnion('status', [
      z.object({ status: z.enum(['committed', 'existing']), ...logged }),
      z.object({ status: z.enum(['conflict', ...failing]) }),
    ])
    .nullable(),
  expect: z.object({
    stage: z.string(),
    wireCode: z.string().nullable(),
    record: z.string().optional(),
    reason: z.string().optional(),
  }),
});
type Evaluation = z.infer<typeof evaluationShape>;

const manifestShape = z.object({
  artifactDigest: z.string(),
  artifacts: z.array(z.object({ path: z.string(), byteLength: z.number(), sha256: z.string() })),
  cryptography: z.object({ artifactDigest: z.string() }),
  cases: z.array(z.object({ id: z.string(), evaluations: z.array(evaluationShape) })),
});

export async function runAdmission(bundle: Bundle): Promise<PartReport> {
  const path = MANIFEST_OF_PART.admission;
  const manifest = manifestShape.safeParse(bundle.readJson(path));
  if (!manifest.success) throw new BundleFault(`${path} has another shape`);
  checkDigests(bundle, path, manifest.data);
  if (readCryptographyManifest(bundle).artifactDigest !== manifest.data.cryptography.artifactDigest) {
    throw new BundleFault(`${path} belongs to another cryptography bundle`);
  }
  const report = emptyReport();
  for (const { id, evaluations } of manifest.data.cases) {
    for (const evaluation of evaluations) {
      record(report, `admission ${id} ${evaluation.id}`, await judge(bundle, evaluation));
    }
  }
  return report;
}

async function judge(bundle: Bundle, evaluation: Evaluation): Promise<string | undefined> {
  const verified = await verifyFile(bundle, evaluation.profileId, evaluation);
  if (!verified.ok) return `expected the six stages to pass, found ${verified.diagnostic.forAudit().stage}`;
  const asked = { lookup: 0, trustedContext: 0, append: 0 };
  const admission = await admit(bundle, evaluation, verified, asked);
  const absent = evaluation.mode === 'first-admission' && evaluation.lookup.status === 'authoritative-absence';
  const expectedAsked = { lookup: 1, trustedContext: absent ? 1 : 0, append: absent && evaluation.append ? 1 : 0 };
  return (
    expectedFound(describeExpected(bundle, evaluation), describeFound(admission)) ??
    expectedFound(`calls ${canonicalText(expectedAsked)}`, `calls ${canonicalText(asked)}`)
  );
}

function admit(
  bundle: Bundle,
  evaluation: Evaluation,
  verified: Verified,
  asked: { lookup: number; trustedContext: number; append: number },
): Promise<Admission> {
  const log: AdmissionLog = {
    async lookup(): Promise<AdmissionLookup> {
      asked.lookup += 1;
      const { lookup } = evaluation;
      if (lookup.status === 'found') return { outcome: 'found', ...loggedRecord(bundle, lookup) };
      return { outcome: lookup.status === 'authoritative-absence' ? 'absent' : lookup.status };
    },
    async appendOrGetExisting(candidate): Promise<AdmissionAppend> {
      asked.append += 1;
      const { append } = evaluation;
      if (append === null) throw new BundleFault(`${evaluation.id} expects no append`);
      if (append.status !== 'committed' && append.status !== 'existing') return { outcome: append.status };
      const differs = canonicalText(candidate) !== canonicalText(bundle.readJson(append.record));
      if (append.status === 'committed' && differs) return { outcome: 'commit-failed' };
      return { outcome: append.status, ...loggedRecord(bundle, append) };
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

function loggedRecord(bundle: Bundle, outcome: { record: string; authenticatedService: Verified['principal'] }) {
  return { record: { bytes: bundle.read(outcome.record) }, authenticatedService: outcome.authenticatedService };
}

function describeExpected(bundle: Bundle, { expect }: Evaluation): string {
  const result = expect.record === undefined ? expect.reason : canonicalText(bundle.readJson(expect.record));
  return `${expect.stage} ${expect.wireCode ?? 'no code'} ${result ?? ''}`;
}

function describeFound(admission: Admission): string {
  if (admission.ok) return `complete no code ${canonicalText(admission.record)}`;
  const { stage, reason } = admission.diagnostic.forAudit();
  return `${stage} ${admission.refusal.code} ${reason}`;
}
