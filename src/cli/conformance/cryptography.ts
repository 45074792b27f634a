// The cryptography part: canonical forms, and the stage at which each Signed Document stops, or all that it proves.

import { z } from 'zod';
import type { SignedDocumentKind } from '../../protocol/kinds.ts';
import { signerFromSeed, type Signer } from '../../trust/signing.ts';
import { evidenceFromSnapshot, readRegistrySnapshot } from '../../trust/registry-snapshot.ts';
import { SIGNED_KINDS } from '../../trust/signed-kinds.ts';
import { verifyDocument, type VerificationResult, type Verified } from '../../trust/verify.ts';
import { decodeBase64url, encodeBase64url } from '../../wire/base64url.ts';
import { canonicalHash, canonicalText, sha256Label } from '../../wire/canonical.ts';
import { BundleFault } from './folder.ts';
import type { CheckedFiles } from './integrity.ts';
import type {
  CanonicalizationEvaluation,
  CryptographyManifest,
  DocumentEvaluation,
  PublishedResult,
} from './manifests.ts';
import { emptyReport, evaluate, expectedFound, type PartReport } from './report.ts';

export async function runCryptography(files: CheckedFiles, manifest: CryptographyManifest): Promise<PartReport> {
  const report = emptyReport();
  for (const { profileId, ...published } of manifest.profiles) {
    if (canonicalText(published) === canonicalText(SIGNED_KINDS[profileId])) continue;
    report.failures.push(`cryptography profile ${profileId}: time or signer differs`);
  }
  for (const { id, evaluations } of manifest.cases) {
    for (const evaluation of evaluations) {
      if ('input' in evaluation) {
        await evaluate(report, `cryptography ${id}`, () => judgeCanonicalization(files, evaluation));
      } else {
        const fault = evaluation.fault ? ` ${evaluation.fault.id}` : '';
        const name = `cryptography ${id}${fault} (${evaluation.document} with ${evaluation.registry})`;
        await evaluate(report, name, () => judgeDocument(files, evaluation));
      }
    }
  }
  return report;
}

/** The six stages over files of the files. The Organization is the one that the registry file speaks for. */
export async function verifyFile<Kind extends SignedDocumentKind>(
  files: CheckedFiles,
  kind: Kind,
  evaluation: { document: string; registry: string },
): Promise<VerificationResult<Kind>> {
  const snapshot = readRegistrySnapshot(files.read(evaluation.registry));
  const organizationId = snapshot.ok ? snapshot.snapshot.organizationId : 'urn:x-unreadable-registry';
  const input = { bytes: files.read(evaluation.document) };
  return verifyDocument(kind, input, organizationId, evidenceFromSnapshot(snapshot));
}

function judgeCanonicalization(files: CheckedFiles, evaluation: CanonicalizationEvaluation): string | undefined {
  const text = canonicalText(files.readJson(evaluation.input));
  const expected = Buffer.from(files.read(evaluation.expectedJcs)).toString('utf8');
  return expectedFound(expected, text) ?? expectedFound(evaluation.sha256, sha256Label(text));
}

async function judgeDocument(files: CheckedFiles, evaluation: DocumentEvaluation): Promise<string | undefined> {
  const result = await verifyFile(files, evaluation.profileId, evaluation);
  const { expect } = evaluation;
  const expected = `${expect.stage} ${expect.wireCode ?? 'no code'}`;
  const found = result.ok
    ? 'complete no code'
    : `${result.diagnostic.forAudit().stage} ${result.refusal.code} (${result.diagnostic.forAudit().reason})`;
  if (!result.ok) return found.startsWith(`${expected} (`) ? undefined : `expected ${expected}, found ${found}`;
  return expectedFound(expected, found) ?? judgeVerified(files, evaluation, result);
}

function judgeVerified(files: CheckedFiles, evaluation: DocumentEvaluation, result: Verified): string | undefined {
  const expected = evaluation.expect.verified;
  if (expected === undefined || evaluation.signingKey === undefined) return 'the evaluation names no result to compare';
  const found: PublishedResult = {
    keyId: result.keyId,
    principal: result.principal,
    protectedTime: result.protectedTime,
    signingBytes: expected.signingBytes,
    signingHash: result.signingHash,
    signature: result.document.signature.value,
    signedDocumentHash: canonicalHash(result.document),
  };
  const published = files.read(expected.signingBytes);
  if (!Buffer.from(result.signingBytes).equals(published)) return `signing bytes differ from ${expected.signingBytes}`;
  const signedAgain = encodeBase64url(signerOf(files, evaluation.signingKey).sign(result.signingBytes));
  return expectedFound(canonicalText(expected), canonicalText(found)) ?? expectedFound(expected.signature, signedAgain);
}

const signingKeyShape = z.object({ keyId: z.string(), seed: z.string() });

function signerOf(files: CheckedFiles, path: string): Signer {
  const key = signingKeyShape.safeParse(files.readJson(path));
  const seed = key.success ? decodeBase64url(key.data.seed) : undefined;
  if (!key.success || seed?.length !== 32) throw new BundleFault(`${path} is not a signing key`);
  return signerFromSeed(key.data.keyId, seed);
}
