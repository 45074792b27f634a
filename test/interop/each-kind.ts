// One document of each of the nine signed kinds as it stands before it is signed, and who has to sign it.
import type { SignedDocumentKind } from '../../src/protocol/kinds.ts';
import type { Actor } from './actor.ts';
import { artifactDraft, cardOf, evidenceDraft, HARD_JSON, newId, now, type Place } from './drafts.ts';
import type { JsonObject } from './sdk.ts';
import type { Stage } from './stage.ts';

export interface Unsigned {
  readonly kind: SignedDocumentKind;
  readonly signer: Actor;
  readonly document: JsonObject;
}

export function draftOfEachKind({ organizationId, cast }: Stage, service: Actor): Unsigned[] {
  const { olga, cora, ada } = cast;
  const place: Place = { missionId: newId(), groupId: newId(), workItemId: newId() };
  const time = now();
  const artifact = artifactDraft(place, ada, '# A page\n', [hashOf('3')]);
  const documents: Record<SignedDocumentKind, Omit<Unsigned, 'kind'>> = {
    'agent-card': { signer: service, document: { ...cardOf(ada, olga, time), organizationId, issuedAt: time } },
    approval: { signer: olga, document: approvalDraft(place, olga, time) },
    artifact: { signer: ada, document: artifact },
    command: { signer: ada, document: commandDraft(place, ada, time) },
    'context-package': { signer: cora, document: packageDraft(place, cora, time) },
    event: { signer: service, document: eventDraft(place, { actor: ada, acceptor: service }, time) },
    evidence: { signer: ada, document: evidenceDraft(place, ada, [String(artifact['contentHash'])]) },
    'extension-profile': { signer: service, document: profileDraft(service, time) },
    'group-snapshot': { signer: service, document: snapshotDraft(place, service, time) },
  };
  return (Object.entries(documents) as [SignedDocumentKind, Omit<Unsigned, 'kind'>][]).map(([kind, unsigned]) => ({
    kind,
    ...unsigned,
  }));
}

function approvalDraft({ missionId, groupId }: Place, { principal }: Actor, occurredAt: string): JsonObject {
  return {
    approvalId: newId(),
    kind: 'mission_final',
    decision: 'approved',
    missionId,
    groupId,
    missionRevision: 3,
    artifactHashes: [hashOf('0')],
    acceptancePolicyVersion: '1.0.0',
    approver: principal,
    comments: 'Nice — 好 😀',
    conditions: [],
    occurredAt,
  };
}

function commandDraft({ groupId }: Place, { principal }: Actor, issuedAt: string): JsonObject {
  const actionId = newId();
  return {
    protocolVersion: '0.1',
    actionId,
    actor: principal,
    sessionEpoch: 1,
    membershipEpoch: 1,
    groupId,
    kind: 'message.post',
    correlationId: actionId,
    issuedAt,
    payload: HARD_JSON,
  };
}

function packageDraft({ missionId, groupId }: Place, { principal }: Actor, generatedAt: string): JsonObject {
  const eventIds = [newId()];
  return {
    contextPackageId: newId(),
    version: 1,
    missionId,
    groupId,
    sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds },
    artifactHashes: [],
    summary: 'A page in two languages is wanted — 两种语言',
    decisions: [{ description: 'Ada writes', sourceEventIds: eventIds }],
    constraints: ['Short sentences'],
    unresolvedQuestions: [],
    generatedBy: principal,
    generatedAt,
  };
}

function eventDraft(
  { groupId }: Place,
  { actor, acceptor }: { actor: Actor; acceptor: Actor },
  occurredAt: string,
): JsonObject {
  return {
    protocolVersion: '0.1',
    eventId: newId(),
    groupId,
    sequence: 1,
    aggregateRevision: 0,
    kind: 'message.posted',
    actor: actor.principal,
    cause: { type: 'command', id: newId() },
    correlationId: newId(),
    occurredAt,
    acceptedBy: acceptor.principal,
    payload: HARD_JSON,
  };
}

function profileDraft({ principal }: Actor, approvedAt: string): JsonObject {
  return {
    profileUri: 'https://interop.example/profiles/tone',
    name: 'Tone',
    version: '1.0.0',
    schemaUri: 'https://interop.example/schemas/tone',
    schemaHash: hashOf('1'),
    requiredCapabilities: [],
    critical: false,
    commandKinds: ['ext.example.tone.set'],
    eventKinds: ['ext.example.tone.changed'],
    overridesCoreInvariants: false,
    approvedBy: principal,
    approvedAt,
  };
}

function snapshotDraft({ groupId }: Place, { principal }: Actor, createdAt: string): JsonObject {
  return {
    snapshotId: newId(),
    groupId,
    throughSequence: 1,
    eventIds: [newId()],
    stateHash: hashOf('2'),
    policyLog: [{ entryId: newId(), decision: 'kept', actor: principal, occurredAt: createdAt, details: HARD_JSON }],
    createdBy: principal,
    createdAt,
  };
}

function hashOf(digit: string): string {
  return `sha256:${digit.repeat(64)}`;
}
