// Documents as they stand in payloads, whole by their schemas. Their signatures are only shaped like some: the domain
// never looks at them, and the World takes the Command's actor for the signer.
import type { Principal } from '../../src/protocol/principals.ts';
import { COORDINATOR, GROUP, MISSION, OWNER } from './fixtures.ts';
import { ORGANIZATION } from './world.ts';

const TIME = '2026-11-29T12:00:00Z';

export const hashOf = (digit: string): string => `sha256:${digit.repeat(64)}`;

function signature(createdAt: string) {
  return { algorithm: 'Ed25519', keyId: 'urn:test:key:some', createdAt, value: 'A'.repeat(86) };
}

export function finalApproval(overrides: object = {}) {
  return {
    approvalId: 'urn:test:approval:1',
    kind: 'mission_final',
    decision: 'approved',
    missionId: MISSION,
    groupId: GROUP,
    missionRevision: 1,
    artifactHashes: [hashOf('a')],
    acceptancePolicyVersion: '1.0.0',
    approver: OWNER,
    comments: 'Well done',
    conditions: ['Keep it running'],
    occurredAt: TIME,
    signature: signature(TIME),
    ...overrides,
  };
}

export function changeRequest(overrides: object = {}) {
  return finalApproval({ decision: 'changes_requested', comments: 'Add a manual', artifactHashes: [], ...overrides });
}

export function agentCard(agent: Principal, overrides: object = {}) {
  return {
    agentId: agent.id,
    organizationId: ORGANIZATION,
    cardVersion: 1,
    displayName: 'Ada',
    owner: OWNER,
    status: 'active',
    protocolVersions: ['0.1'],
    endpoints: [{ transport: 'wss', uri: 'wss://agents.example/ada' }],
    publicKeys: [publicKey('1')],
    capabilities: [
      {
        id: 'software.coding',
        version: '1.2.0',
        inputSchema: 'https://schemas.example/in',
        inputSchemaHash: hashOf('1'),
        outputSchema: 'https://schemas.example/out',
        outputSchemaHash: hashOf('2'),
        constraints: {},
        verifiedEvidence: ['urn:test:evidence:card'],
      },
    ],
    maxConcurrency: 3,
    issuedAt: TIME,
    signature: signature(TIME),
    ...overrides,
  };
}

export function publicKey(name: string, overrides: object = {}) {
  return {
    keyId: `urn:test:key:${name}`,
    algorithm: 'Ed25519',
    publicKey: name.repeat(43).slice(0, 43),
    validFrom: TIME,
    ...overrides,
  };
}

export function contextPackage(overrides: object = {}) {
  return {
    contextPackageId: 'urn:test:context-package:1',
    version: 1,
    missionId: MISSION,
    groupId: GROUP,
    sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: ['urn:test:event:1'] },
    artifactHashes: [],
    summary: 'A secret summary',
    decisions: [{ description: 'A secret decision', sourceEventIds: ['urn:test:event:1'] }],
    constraints: ['A secret constraint'],
    unresolvedQuestions: ['A secret question'],
    generatedBy: COORDINATOR,
    generatedAt: TIME,
    signature: signature(TIME),
    ...overrides,
  };
}
