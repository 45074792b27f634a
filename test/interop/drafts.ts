// What the documents of this run say before they are signed. Some of it is chosen to be hard to canonicalize.
import { hash, randomUUID } from 'node:crypto';
import type { Actor } from './actor.ts';
import type { JsonObject } from './sdk.ts';

export const CAPABILITY = { id: 'software.writing', version: '1.0.0' };
export const CURRENCY = 'EUR';

/** Names and numbers on which canonical forms differ when they differ: UTF-16 order, shortest numbers, escapes. */
export const HARD_JSON: JsonObject = {
  ...(JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as JsonObject),
  '\u{1F600}': 'a surrogate pair sorts before U+FB33',
  '\uFB33': 'and this one after it',
  '': 'an empty name',
  '10': 1,
  '9': 2,
  numbers: [0, -0, 1e21, 1e-7, 0.1, 123456789012345680000, 5e-324, 1.7976931348623157e308, -1.5, 9007199254740991],
  text: 'quote " backslash \\ slash / newline \n null \u0000 delete \u007f line \u2028 accents e\u0301 é',
};

export function newId(): string {
  return `urn:uuid:${randomUUID()}`;
}

export function now(): string {
  return new Date().toISOString();
}

export function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString();
}

function contentHash(content: string): string {
  return `sha256:${hash('sha256', content, 'hex')}`;
}

export function cardOf({ name, principal, publicKey, key }: Actor, owner: Actor, validFrom: string): JsonObject {
  return {
    agentId: principal.id,
    cardVersion: 1,
    displayName: name,
    owner: owner.principal,
    status: 'active',
    protocolVersions: ['0.1'],
    endpoints: [{ transport: 'wss', uri: `wss://interop.example/${name}` }],
    publicKeys: [{ keyId: key.keyId, algorithm: 'Ed25519', publicKey, validFrom }],
    capabilities: [
      {
        ...CAPABILITY,
        inputSchema: 'https://interop.example/schemas/input',
        inputSchemaHash: contentHash('input'),
        outputSchema: 'https://interop.example/schemas/output',
        outputSchemaHash: contentHash('output'),
        constraints: HARD_JSON,
        verifiedEvidence: ['https://interop.example/evidence/1'],
      },
    ],
    maxConcurrency: 4,
  };
}

export function missionDraft(coordinator: Actor): JsonObject {
  return {
    coordinatorId: coordinator.principal.id,
    title: 'A page in two languages — 两种语言',
    objective: 'Publish a page that reads well in both languages',
    definitionOfDone: [{ criterionId: 'reads-well', description: 'It does', evidenceRequired: ['human_review'] }],
    budget: {
      currency: CURRENCY,
      financialLimit: 40.5,
      modelTokenLimit: 600_000,
      toolCallLimit: 300,
      externalSideEffectLimit: 3,
    },
    deadline: inSeconds(7_200),
    approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true, policyVersion: '1.0.0' },
    coordinatorLeaseSeconds: 900,
  };
}

export function contractDraft(goal: string, dependencyWorkItemIds: readonly string[] = []): JsonObject {
  return {
    contractVersion: 1,
    goal,
    requiredDeliverables: [
      {
        deliverableId: 'page',
        description: goal,
        mediaType: 'text/markdown',
        schema: 'https://interop.example/schemas/page',
      },
    ],
    acceptanceCriteria: [
      { criterionId: 'complete', description: 'Nothing is missing', evidenceRequired: ['deterministic_test'] },
    ],
    inputArtifacts: [],
    dependencyWorkItemIds,
    allowedResources: [],
    requiredCapabilities: [CAPABILITY],
    deadline: inSeconds(3_600),
    requestedUrgency: 'normal',
    businessImpact: 'The Mission waits for it',
    retryPolicy: { maxAttempts: 2, backoff: 'exponential', maxDelay: 'PT1M', retryableFailures: ['TIMEOUT'] },
    budget: { currency: CURRENCY, financialLimit: 5, modelTokenLimit: 60_000, toolCallLimit: 40 },
    sideEffectRisk: 'none',
    executionApproval: 'not_required',
    constraints: HARD_JSON,
  };
}

export function basisDraft(): JsonObject {
  return {
    requiredCapabilities: [CAPABILITY],
    verifiedMatches: [CAPABILITY],
    authorizationEligible: true,
    availabilityEstimate: now(),
    expectedCost: 1.5,
    reliabilityEvidence: ['https://interop.example/evidence/1'],
    policyRulesApplied: ['capability-match'],
  };
}

/** Members that tie a document to its place. */
export interface Place {
  readonly missionId: string;
  readonly groupId: string;
  readonly workItemId: string;
}

export function artifactDraft(place: Place, producer: Actor, content: string, sources: readonly string[]): JsonObject {
  return {
    ...place,
    artifactId: newId(),
    contentHash: contentHash(content),
    uri: `urn:${contentHash(content)}`,
    sizeBytes: Buffer.byteLength(content, 'utf8'),
    mediaType: 'text/markdown',
    schemaUri: 'https://interop.example/schemas/page',
    producer: { agentId: producer.principal.id, agentCardVersion: 1, capabilities: [CAPABILITY] },
    sourceArtifactHashes: sources,
    toolVersions: [{ name: 'node', version: process.versions.node }],
    modelVersions: [{ provider: 'interop', model: 'scripted', version: '1' }],
    classification: 'internal',
    createdAt: now(),
  };
}

export function evidenceDraft(place: Place, signer: Actor, artifactHashes: readonly string[]): JsonObject {
  return {
    ...place,
    evidenceId: newId(),
    type: 'deterministic_test',
    subject: { type: 'work_item', id: place.workItemId },
    criterionIds: ['complete'],
    method: 'Counted the paragraphs of both languages',
    result: 'passed',
    details: HARD_JSON,
    artifactHashes,
    generatedBy: signer.principal,
    createdAt: now(),
  };
}
