// One Organization with keyed principals, its Registry, and a valid unsigned document of each of the nine kinds.

import type { SignedDocumentKind } from '../../src/protocol/kinds.ts';
import type { Principal, PrincipalType } from '../../src/protocol/principals.ts';
import type { KeyBinding, KeyEvidence, RegistryEvidence } from '../../src/trust/evidence.ts';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import type { UnsignedDocument } from '../../src/trust/signed-kinds.ts';
import { generateKeyPair, signerFromSeed, type Signer } from '../../src/trust/signing.ts';

export const ORGANIZATION = 'urn:example:organization:acme';
export const TIME = '2026-03-01T12:00:00.5Z';
const HASH = `sha256:${'a'.repeat(64)}`;

export interface Party {
  readonly principal: Principal;
  readonly signer: Signer;
  readonly binding: KeyBinding;
}

export function party(type: PrincipalType, name: string, over: Partial<KeyBinding> = {}): Party {
  const { seed, publicKey } = generateKeyPair();
  const keyId = `urn:example:key:${name}`;
  const principal = { type, id: `urn:example:${type}:${name}` };
  const binding: KeyBinding = {
    keyId,
    principal,
    algorithm: 'Ed25519',
    publicKey,
    validFrom: '2026-01-01T00:00:00Z',
    history: [],
    ...over,
  };
  return { principal, signer: signerFromSeed(keyId, seed), binding };
}

export const agent = party('agent', 'worker');
export const human = party('human', 'owner');
export const service = party('service', 'authority');
export const stranger = party('agent', 'stranger');
/** The signer that each kind asks for. */
export const SIGNER_OF: Readonly<Record<SignedDocumentKind, Party>> = {
  'agent-card': service,
  approval: human,
  artifact: agent,
  command: agent,
  'context-package': agent,
  event: service,
  evidence: agent,
  'extension-profile': human,
  'group-snapshot': service,
};

export function registryOf(...parties: readonly { binding: KeyBinding }[]): RegistryEvidence {
  return evidenceFromSnapshot(
    registrySnapshot(
      ORGANIZATION,
      parties.map(({ binding }) => binding),
    ),
  );
}

export const registry = registryOf(agent, human, service);

export function answering(evidence: KeyEvidence): RegistryEvidence {
  return { resolve: async () => evidence };
}

const ids = {
  missionId: 'urn:example:mission:1',
  groupId: 'urn:example:group:1',
  workItemId: 'urn:example:work:1',
};

export const UNSIGNED: { readonly [Kind in SignedDocumentKind]: UnsignedDocument<Kind> } = {
  'agent-card': {
    agentId: agent.principal.id,
    organizationId: ORGANIZATION,
    cardVersion: 1,
    displayName: 'Worker',
    owner: human.principal,
    status: 'active',
    protocolVersions: ['0.1'],
    endpoints: [{ transport: 'wss', uri: 'wss://worker.example/' }],
    publicKeys: [
      {
        keyId: agent.binding.keyId,
        algorithm: 'Ed25519',
        publicKey: agent.binding.publicKey,
        validFrom: '2026-01-01T00:00:00Z',
      },
    ],
    capabilities: [
      {
        id: 'code.review',
        version: '1.0.0',
        inputSchema: 'urn:example:schema:in',
        inputSchemaHash: HASH,
        outputSchema: 'urn:example:schema:out',
        outputSchemaHash: HASH,
        constraints: {},
        verifiedEvidence: ['urn:example:evidence:0'],
      },
    ],
    maxConcurrency: 1,
    issuedAt: TIME,
  },
  approval: {
    approvalId: 'urn:example:approval:1',
    kind: 'mission_final',
    decision: 'approved',
    missionId: ids.missionId,
    groupId: ids.groupId,
    missionRevision: 3,
    artifactHashes: [HASH],
    acceptancePolicyVersion: '1.0.0',
    approver: human.principal,
    comments: '',
    conditions: [],
    occurredAt: TIME,
  },
  artifact: {
    ...ids,
    artifactId: 'urn:example:artifact:1',
    contentHash: HASH,
    uri: 'https://store.example/a',
    sizeBytes: 12,
    mediaType: 'text/plain',
    schemaUri: 'urn:example:schema:text',
    producer: {
      agentId: agent.principal.id,
      agentCardVersion: 1,
      capabilities: [{ id: 'code.review', version: '1.0.0' }],
    },
    sourceArtifactHashes: [],
    toolVersions: [],
    modelVersions: [],
    classification: 'internal',
    createdAt: TIME,
  },
  command: {
    protocolVersion: '0.1',
    actionId: 'urn:example:action:1',
    actor: agent.principal,
    sessionEpoch: 1,
    membershipEpoch: 1,
    groupId: ids.groupId,
    kind: 'message.post',
    correlationId: 'urn:example:correlation:1',
    issuedAt: TIME,
    payload: { text: 'hello', signature: { nested: true }, limits: [1, 2.5, -0] },
    extensions: { 'urn:example:extension:1': { version: '1.0.0', critical: false, data: { signature: 'x' } } },
  },
  'context-package': {
    contextPackageId: 'urn:example:context:1',
    version: 1,
    missionId: ids.missionId,
    groupId: ids.groupId,
    sourceEventRange: { fromSequence: 1, toSequence: 2, eventIds: ['urn:example:event:1'] },
    artifactHashes: [],
    summary: 'so far',
    decisions: [],
    constraints: [],
    unresolvedQuestions: [],
    generatedBy: { type: 'agent', id: agent.principal.id },
    generatedAt: TIME,
  },
  event: {
    protocolVersion: '0.1',
    eventId: 'urn:example:event:1',
    groupId: ids.groupId,
    sequence: 1,
    aggregateRevision: 1,
    kind: 'message.posted',
    actor: agent.principal,
    cause: { type: 'command', id: 'urn:example:action:1' },
    correlationId: 'urn:example:correlation:1',
    occurredAt: TIME,
    payload: {},
    acceptedBy: service.principal,
  },
  evidence: {
    ...ids,
    evidenceId: 'urn:example:evidence:1',
    type: 'deterministic_test',
    subject: { type: 'work_item', id: ids.workItemId },
    criterionIds: ['c1'],
    method: 'ran the tests',
    result: 'passed',
    artifactHashes: [],
    generatedBy: agent.principal,
    createdAt: TIME,
  },
  'extension-profile': {
    profileUri: 'urn:example:profile:1',
    name: 'A profile',
    version: '1.0.0',
    schemaUri: 'urn:example:schema:profile',
    schemaHash: HASH,
    requiredCapabilities: [],
    critical: false,
    commandKinds: ['ext.example.a.do'],
    eventKinds: [],
    overridesCoreInvariants: false,
    approvedBy: human.principal,
    approvedAt: TIME,
  },
  'group-snapshot': {
    snapshotId: 'urn:example:snapshot:1',
    groupId: ids.groupId,
    throughSequence: 1,
    eventIds: ['urn:example:event:1'],
    stateHash: HASH,
    policyLog: [
      { entryId: 'urn:example:entry:1', decision: 'linked', actor: service.principal, occurredAt: TIME, details: {} },
    ],
    createdBy: { type: 'service', id: service.principal.id },
    createdAt: TIME,
  },
};
