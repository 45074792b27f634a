// The cryptography part: canonical forms, and the stage at which each Signed Document stops, or all that it proves.

import { z } from 'zod';
import { SIGNED_DOCUMENT_KINDS, type SignedDocumentKind } from '../../protocol/kinds.ts';
import { signerFromSeed } from '../../trust/signing.ts';
import { evidenceFromSnapshot, readRegistrySnapshot } from '../../trust/registry-snapshot.ts';
import { SIGNED_KINDS } from '../../trust/signed-kinds.ts';
import { verifyDocument, type VerificationResult, type Verified } from '../../trust/verify.ts';
import { encodeBase64url } from '../../wire/base64url.ts';
import { canonicalHash, canonicalText, sha256Label } from '../../wire/canonical.ts';
import { BundleFault, checkDigests, MANIFEST_OF_PART, type Bundle } from './bundle.ts';
import { emptyReport, expectedFound, record, type PartReport } from './report.ts';

const verifiedShape = z.object({
  keyId: z.string(),
  principal: z.object({ type: z.string(), id: z.string() }),
  protectedTime: z.string(),
  signingBytes: z.string(),
  signingHash: z.string(),
  signature: z.string(),
  signedDocumentHash: z.string(),
});
const canonicalizationShape = z.object({ input: z.string(), expectedJcs: z.string(), sha256: z.string() });
const documentShape = z.object({
  profileId: z.enum(SIGNED_DOCUMENT_KINDS),
  document: z.string(),
  registry: z.string(),
  signingKey: z.string().optional(),
  expect: z.object({
    stage: z.string(),
    wireCode: z.string().nullable(),
    verified: verifiedShape.optional(),
  }),
});
type DocumentEvaluation = z.infer<typeof documentShape>;

const manifestShape = z.object({
  artifactDigest: z.string(),
  artifacts: z.array(z.object({ path: z.string(), byteLength: z.number(), sha256: z.string() })),
  profiles: z.array(
    z.object({
      profileId: z.enum(SIGNED_DOCUMENT_KINDS),
      protectedTimePointer: z.string(),
      expectedSigner: z.unknown(),
    }),
  ),
  cases: z.array(z.object({ id: z.string(), evaluations: z.array(z.union([canonicalizationShape, documentShape])) })),
});
const signingKeyShape = z.object({ keyId: z.string(), seed: z.string() });

export async function runCryptography(bundle: Bundle): Promise<PartReport> {
  const manifest = readCryptographyManifest(bundle);
  const report = emptyReport();
  for (const { profileId, ...published } of manifest.profiles) {
    if (canonicalText(published) === canonicalText(SIGNED_KINDS[profileId])) continue;
    report.failures.push(`cryptography profile ${profileId}: time or signer differs`);
  }
  for (const { id, evaluations } of manifest.cases) {
    for (const evaluation of evaluations) {
      if ('input' in evaluation) {
        record(report, `cryptography ${id}`, judgeCanonicalization(bundle, evaluation));
      } else {
        const name = `cryptography ${id} (${evaluation.document} with ${evaluation.registry})`;
        record(report, name, await judgeDocument(bundle, evaluation));
      }
    }
  }
  return report;
}

export function readCryptographyManifest(bundle: Bundle) {
  const path = MANIFEST_OF_PART.cryptography;
  const manifest = manifestShape.safeParse(bundle.readJson(path));
  if (!manifest.success) throw new BundleFault(`${path} has another shape`);
  checkDigests(bundle, path, manifest.data);
  return manifest.data;
}

/** The six stages over files of the bundle. The Organization is the one that the registry file speaks for. */
export async function verifyFile<Kind extends SignedDocumentKind>(
  bundle: Bundle,
  kind: Kind,
  files: { document: string; registry: string },
): Promise<VerificationResult<Kind>> {
  const snapshot = readRegistrySnapshot(bundle.read(files.registry));
  const organizationId = snapshot.ok ? snapshot.snapshot.organizationId : 'urn:x-unreadable-registry';
  const input = { bytes: bundle.read(files.document) };
  return verifyDocument(kind, input, organizationId, evidenceFromSnapshot(snapshot));
}

function judgeCanonicalization(bundle: Bundle, evaluation: z.infer<typeof canonicalizationShape>): string | undefined {
  const text = canonicalText(bundle.readJson(evaluation.input));
  const expected = Buffer.from(bundle.read(evaluation.expectedJcs)).toString('utf8');
  return expectedFound(expected, text) ?? expectedFound(evaluation.sha256, sha256Label(text));
}

async function judgeDocument(bundle: Bundle, evaluation: DocumentEvaluation): Promise<string | undefined> {
  const result = await verifyFile(bundle, evaluation.profileId, evaluation);
  const { expect } = evaluation;
  const expected = `${expect.stage} ${expect.wireCode ?? 'no code'}`;
  const found = result.ok
    ? 'complete no code'
    : `${result.diagnostic.forAudit().stage} ${result.refusal.code} (${result.diagnostic.forAudit().reason})`;
  if (!result.ok) return found.startsWith(`${expected} (`) ? undefined : `expected ${expected}, found ${found}`;
  return expectedFound(expected, found) ?? judgeVerified(bundle, evaluation, result);
}

function judgeVerified(bundle: Bundle, evaluation: DocumentEvaluation, result: Verified): string | undefined {
  const expected = evaluation.expect.verified;
  if (expected === undefined || evaluation.signingKey === undefined) return 'the evaluation names no result to compare';
  const found: z.infer<typeof verifiedShape> = {
    keyId: result.keyId,
    principal: result.principal,
    protectedTime: result.protectedTime,
    signingBytes: expected.signingBytes,
    signingHash: result.signingHash,
    signature: result.document.signature.value,
    signedDocumentHash: canonicalHash(result.document),
  };
  const published = bundle.read(expected.signingBytes);
  if (!Buffer.from(result.signingBytes).equals(published)) return `signing bytes differ from ${expected.signingBytes}`;
  const key = signingKeyShape.parse(bundle.readJson(evaluation.signingKey));
  const signer = signerFromSeed(key.keyId, Buffer.from(key.seed, 'base64url'));
  const signedAgain = encodeBase64url(signer.sign(result.signingBytes));
  return expectedFound(canonicalText(expected), canonicalText(found)) ?? expectedFound(expected.signature, signedAgain);
}
