// The shapes of the three manifests, no more of each than is used, and the files that their cases name.

import { z } from 'zod';
import { SIGNED_DOCUMENT_KINDS } from '../../protocol/kinds.ts';
import { MAX_FILE_BYTES, MAX_FILES } from './folder.ts';

/** Printable, for it is printed. */
const label = z.string().regex(/^[\x20-\x7e]{1,200}$/);
const cases = <Shape extends z.ZodType>(evaluation: Shape) =>
  z
    .array(z.object({ id: label, evaluations: z.array(evaluation).min(1).max(MAX_FILES) }))
    .min(1)
    .max(MAX_FILES);
const artifacts = z
  .array(z.object({ path: z.string(), byteLength: z.int().min(0).max(MAX_FILE_BYTES), sha256: z.string() }))
  .max(MAX_FILES);

export const structuralShape = z
  .array(z.object({ name: label, schema: z.string(), instance: z.string(), valid: z.boolean() }))
  .min(1)
  .max(MAX_FILES);
export type StructuralManifest = z.infer<typeof structuralShape>;

const verifiedShape = z.object({
  keyId: z.string(),
  principal: z.object({ type: z.string(), id: z.string() }),
  protectedTime: z.string(),
  signingBytes: z.string(),
  signingHash: z.string(),
  signature: z.string(),
  signedDocumentHash: z.string(),
});
export type PublishedResult = z.infer<typeof verifiedShape>;
const canonicalizationShape = z.object({ input: z.string(), expectedJcs: z.string(), sha256: z.string() });
export type CanonicalizationEvaluation = z.infer<typeof canonicalizationShape>;
const documentShape = z.object({
  profileId: z.enum(SIGNED_DOCUMENT_KINDS),
  document: z.string(),
  registry: z.string(),
  signingKey: z.string().optional(),
  fault: z.object({ id: label }).nullish(),
  expect: z.object({ stage: label, wireCode: label.nullable(), verified: verifiedShape.optional() }),
});
export type DocumentEvaluation = z.infer<typeof documentShape>;

export const cryptographyShape = z.object({
  artifactDigest: z.string(),
  artifacts,
  profiles: z.array(
    z.object({
      profileId: z.enum(SIGNED_DOCUMENT_KINDS),
      protectedTimePointer: z.string(),
      expectedSigner: z.unknown(),
    }),
  ),
  cases: cases(z.union([canonicalizationShape, documentShape])),
});
export type CryptographyManifest = z.infer<typeof cryptographyShape>;

const principalShape = z.object({ type: z.enum(['agent', 'human', 'service']), id: z.string() });
const logged = { record: z.string(), authenticatedService: principalShape };
const failing = ['unauthenticated', 'integrity-failed', 'unavailable', 'indeterminate'] as const;
const admissionEvaluationShape = z.object({
  id: label,
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
    stage: label,
    wireCode: label.nullable(),
    record: z.string().optional(),
    reason: label.optional(),
  }),
});
export type AdmissionEvaluation = z.infer<typeof admissionEvaluationShape>;

export const admissionShape = z.object({
  artifactDigest: z.string(),
  artifacts,
  cryptography: z.object({ artifactDigest: z.string() }),
  cases: cases(admissionEvaluationShape),
});
export type AdmissionManifest = z.infer<typeof admissionShape>;

/** Every file that a case reads, so that none is read that no digest covers. */
export function filesOfCryptography({ cases: all }: CryptographyManifest): string[] {
  return all
    .flatMap(({ evaluations }) => evaluations)
    .flatMap((evaluation) =>
      'input' in evaluation
        ? [evaluation.input, evaluation.expectedJcs]
        : present(
            evaluation.document,
            evaluation.registry,
            evaluation.signingKey,
            evaluation.expect.verified?.signingBytes,
          ),
    );
}

export function filesOfAdmission({ cases: all }: AdmissionManifest): string[] {
  return all
    .flatMap(({ evaluations }) => evaluations)
    .flatMap(({ document, registry, lookup, append, expect }) =>
      present(
        document,
        registry,
        'record' in lookup ? lookup.record : undefined,
        append !== null && 'record' in append ? append.record : undefined,
        expect.record,
      ),
    );
}

function present(...paths: (string | undefined)[]): string[] {
  return paths.filter((path) => path !== undefined);
}
