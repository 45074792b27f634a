// Builds and signs the documents that travel inside Commands: Artifact manifests, Evidence, Approvals, Context Packages.
// Each fills ids and times and leaves what it says to the caller.

import { randomUUID } from 'node:crypto';
import { timestampFromMillis } from '../protocol/timestamps.ts';
import type { SignedDocument, UnsignedDocument } from '../trust/signed-kinds.ts';
import { signDocument } from '../trust/signing.ts';
import { sha256Label } from '../wire/canonical.ts';
import type { ActorKey } from './keys.ts';

/** Members that every builder can fill itself; give one to override it. */
type Filled<Document, Members extends keyof Document> = Omit<Document, Members> & Partial<Pick<Document, Members>>;

type UnsignedArtifact = UnsignedDocument<'artifact'>;
export type ArtifactDraft = Filled<
  Omit<UnsignedArtifact, 'contentHash' | 'sizeBytes' | 'producer'>,
  'artifactId' | 'createdAt' | 'sourceArtifactHashes' | 'toolVersions' | 'modelVersions' | 'classification' | 'uri'
> & {
  /** Hashed here; where it is kept is the caller's business, and `uri` says it. */
  readonly content: Uint8Array | string;
  readonly producer: Omit<UnsignedArtifact['producer'], 'agentId'>;
};

/** Signed by the producing Agent. `uri` defaults to the content hash itself: content-addressed, kept anywhere. */
export function signArtifact(key: ActorKey, draft: ArtifactDraft): SignedDocument<'artifact'> {
  const { content, producer, ...members } = draft;
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const contentHash = sha256Label(bytes);
  const unsigned: UnsignedArtifact = {
    artifactId: newId(),
    uri: `urn:${contentHash}`,
    sourceArtifactHashes: [],
    toolVersions: [],
    modelVersions: [],
    classification: 'internal',
    createdAt: now(),
    ...members,
    contentHash,
    sizeBytes: bytes.byteLength,
    producer: { agentId: key.principal.id, ...producer },
  };
  return signDocument('artifact', unsigned, key.signer).document;
}

type UnsignedEvidence = UnsignedDocument<'evidence'>;
export type EvidenceDraft = Filled<
  Omit<UnsignedEvidence, 'generatedBy'>,
  'evidenceId' | 'createdAt' | 'result' | 'artifactHashes' | 'subject'
>;

/** Says what was checked and how (MWP-WRK-026). The subject defaults to the WorkItem, the result to `passed`. */
export function signEvidence(key: ActorKey, draft: EvidenceDraft): SignedDocument<'evidence'> {
  const unsigned: UnsignedEvidence = {
    evidenceId: newId(),
    subject: { type: 'work_item', id: draft.workItemId },
    result: 'passed',
    artifactHashes: [],
    createdAt: now(),
    ...draft,
    generatedBy: key.principal,
  };
  return signDocument('evidence', unsigned, key.signer).document;
}

type UnsignedApproval = UnsignedDocument<'approval'>;
export type ApprovalDraft = Filled<
  Omit<UnsignedApproval, 'approver'>,
  'approvalId' | 'occurredAt' | 'comments' | 'conditions' | 'acceptancePolicyVersion'
>;

/** Signed by whoever approves, asks for changes, denies or revokes. */
export function signApproval(key: ActorKey, draft: ApprovalDraft): SignedDocument<'approval'> {
  const unsigned: UnsignedApproval = {
    approvalId: newId(),
    acceptancePolicyVersion: '1.0.0',
    comments: '',
    conditions: [],
    occurredAt: now(),
    ...draft,
    approver: key.principal,
  };
  return signDocument('approval', unsigned, key.signer).document;
}

type UnsignedContextPackage = UnsignedDocument<'context-package'>;
export type ContextPackageDraft = Filled<
  Omit<UnsignedContextPackage, 'generatedBy'>,
  | 'contextPackageId'
  | 'version'
  | 'generatedAt'
  | 'artifactHashes'
  | 'decisions'
  | 'constraints'
  | 'unresolvedQuestions'
>;

/** An Agent's summary of a range of Events for a member that joins late; the key must be an Agent's. */
export function signContextPackage(key: ActorKey, draft: ContextPackageDraft): SignedDocument<'context-package'> {
  const unsigned: UnsignedContextPackage = {
    contextPackageId: newId(),
    version: 1,
    artifactHashes: [],
    decisions: [],
    constraints: [],
    unresolvedQuestions: [],
    generatedAt: now(),
    ...draft,
    generatedBy: { type: 'agent', id: key.principal.id },
  };
  return signDocument('context-package', unsigned, key.signer).document;
}

function newId(): string {
  return `urn:uuid:${randomUUID()}`;
}

function now(): string {
  return timestampFromMillis(Date.now());
}
