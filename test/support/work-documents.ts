// The Signed Documents of the work Commands, well-formed, with a signature that nobody checks in a World.
import type { Principal } from '../../src/protocol/principals.ts';
import { CODING, GROUP, MISSION, OWNER, WORKER } from './fixtures.ts';
import { hashOf } from './signed-documents.ts';

/** The content hash of `artifactOf`. */
export const CODE_HASH = hashOf('c');

/** Any member may be another one; whoever generated it also signs it. */
export type Overriding = { generatedBy?: Principal } & Record<string, unknown>;

export function signatureOf(signer: Principal): object {
  return { algorithm: 'Ed25519', keyId: `${signer.id}:key`, createdAt: '2026-11-29T12:00:00Z', value: 'AAAA' };
}

export function artifactOf(workItemId: string, overrides: object = {}): Record<string, unknown> {
  return {
    artifactId: 'urn:test:artifact:1',
    contentHash: CODE_HASH,
    uri: 'https://store.test/1',
    sizeBytes: 8,
    mediaType: 'text/plain',
    schemaUri: 'https://example.test/code',
    producer: { agentId: WORKER.id, agentCardVersion: 1, capabilities: [CODING] },
    missionId: MISSION,
    groupId: GROUP,
    workItemId,
    sourceArtifactHashes: [],
    toolVersions: [],
    modelVersions: [],
    classification: 'internal',
    createdAt: '2026-11-29T12:00:00Z',
    signature: signatureOf(WORKER),
    ...overrides,
  };
}

export function evidenceOf(workItemId: string, overrides: Overriding = {}) {
  const generatedBy = overrides.generatedBy ?? WORKER;
  return {
    evidenceId: 'urn:test:evidence:1',
    missionId: MISSION,
    groupId: GROUP,
    workItemId,
    type: 'deterministic_test',
    subject: { type: 'work_item', id: workItemId },
    criterionIds: ['works'],
    method: 'Ran the tests',
    result: 'passed',
    details: { passed: 12 },
    artifactHashes: [] as string[],
    generatedBy,
    createdAt: '2026-11-29T12:00:00Z',
    signature: signatureOf(generatedBy),
    ...overrides,
  };
}

export function executionApprovalOf(workItemId: string, overrides: object = {}): Record<string, unknown> {
  return {
    approvalId: 'urn:test:approval:1',
    kind: 'work_execution',
    decision: 'approved',
    missionId: MISSION,
    groupId: GROUP,
    workItemId,
    missionRevision: 1,
    artifactHashes: [],
    acceptancePolicyVersion: '1.0.0',
    approver: OWNER,
    comments: 'Go ahead',
    conditions: [],
    occurredAt: '2026-11-29T12:00:00Z',
    signature: signatureOf(OWNER),
    ...overrides,
  };
}
