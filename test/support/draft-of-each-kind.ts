// A Command of each kind that is executed, accepted in its world, with most of the optional members that it can carry;
// for suites that change them.
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { archive, ARCHIVE, endedMission, takenSnapshot } from './archival.ts';
import { RESULTS, submittedMission } from './awaiting.ts';
import { byCoordinator, byOwner, GROUP, MISSION, missionCreate, OWNER, STRANGER, WORKER } from './fixtures.ts';
import { agentCard, changeRequest, contextPackage, finalApproval, hashOf } from './signed-documents.ts';
import { executionApprovalOf } from './work-documents.ts';
import {
  acceptOffer,
  acceptResult,
  activeItem,
  authorize,
  blockedItem,
  byAgent,
  CHECKPOINT,
  cited,
  contractOf,
  failureReport,
  ITEM,
  offer,
  offeredItem,
  openItem,
  publish,
  publishedItem,
  queuedItem,
  staffedMission,
  start,
  submit,
  submittedItem,
  verifiedItem,
} from './work-fixtures.ts';
import type { CommandDraft, World } from './world.ts';

export const SERVICE = { type: 'service', id: 'urn:test:service' } as const;
const PROGRESS = {
  currentPhase: 'half',
  completedMilestones: ['one'],
  nextCheckpoint: 'two',
  blockers: [],
  updatedCompletionEstimate: '2026-12-01T00:00:00Z',
  evidenceIds: [],
};

/** Of the submitted Mission. */
const missionRevision = 1;
const answered = (document: object) => ({ missionRevision, artifactHashes: RESULTS, ...document });
const mainConversation = (world: World) => world.view.mustGet('group', GROUP).mainConversationId;
const provisional = {
  principal: STRANGER,
  roles: ['worker'],
  mode: 'add',
  scopes: ['role:worker'],
  provisional: true,
  provisionalExpiresAt: '2026-11-29T13:00:00Z',
  visibilityAfterSequence: 0,
  contextPackage: contextPackage(),
};

export type Case = [world: () => World, draft: (world: World) => CommandDraft];

const amendment = { amendmentId: 'urn:test:amendment', messageId: 'urn:test:message', reason: 'Not what I meant' };

function saidMessage(): World {
  const world = staffedMission();
  const said = { messageId: 'urn:test:message', conversationId: mainConversation(world), content: 'Hello' };
  world.accept(byAgent(WORKER, 'message.post', said));
  return world;
}

export const CASES: Record<string, Case> = {
  'mission.create': [
    staffedMission,
    () =>
      missionCreate({
        envelope: { groupId: 'urn:test:group:2' },
        payload: {
          groupId: 'urn:test:group:2',
          missionId: 'urn:test:mission:2',
          permissions: ['run'],
          pinnedProfiles: [{ profileUri: 'urn:test:profile', majorVersion: 1 }],
          extensions: { 'urn:test:extension': { version: '1.0.0', critical: false, data: {} } },
        },
      }),
  ],
  'mission.renew_coordinator': [
    () => {
      const world = staffedMission();
      world.advance(60);
      return world;
    },
    () => byCoordinator('mission.renew_coordinator', { leaseSeconds: 86_400 }),
  ],
  'mission.submit_for_approval': [
    verifiedItem,
    (world) => {
      const hashes = world.view.mustGet('work_item', ITEM).workItem.submission?.artifactHashes;
      return byCoordinator('mission.submit_for_approval', { artifactHashes: hashes });
    },
  ],
  'mission.approve': [submittedMission, () => byOwner('mission.approve', { approval: finalApproval(answered({})) })],
  'mission.request_changes': [
    submittedMission,
    () =>
      byOwner('mission.request_changes', {
        missionRevision,
        feedback: 'Add a manual',
        approval: changeRequest({ missionRevision }),
      }),
  ],
  'mission.cancel': [activeItem, () => byOwner('mission.cancel', { reason: 'No longer needed' })],
  'membership.change': [staffedMission, () => byOwner('membership.change', provisional)],
  'membership.end': [activeItem, () => byOwner('membership.end', { principal: WORKER, reason: 'Done' })],
  'message.post': [
    staffedMission,
    (world) =>
      byAgent(WORKER, 'message.post', {
        messageId: 'urn:test:message',
        conversationId: mainConversation(world),
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'artifact_ref', artifactHash: hashOf('a') },
          { type: 'data_ref', schema: 'urn:test:schema', data: { a: [1] } },
        ],
        mentions: [OWNER],
        references: ['urn:test:message:0'],
        announcement: true,
      }),
  ],
  'message.correct': [
    saidMessage,
    () =>
      byAgent(WORKER, 'message.correct', {
        ...amendment,
        replacementContent: [
          { type: 'text', text: 'Hello, all' },
          { type: 'artifact_ref', artifactHash: hashOf('a') },
        ],
      }),
  ],
  'message.retract': [saidMessage, () => byAgent(WORKER, 'message.retract', amendment)],
  'message.redact': [saidMessage, () => byOwner('message.redact', amendment)],
  'work.propose': [
    staffedMission,
    () => byAgent(WORKER, 'work.propose', { proposalId: 'urn:test:proposal', contract: contractOf() }),
  ],
  'work.authorize': [
    () => {
      const world = queuedItem();
      world.accept(byAgent(WORKER, 'work.propose', { proposalId: 'urn:test:proposal', contract: contractOf() }));
      return world;
    },
    () =>
      authorize({
        payload: {
          workItemId: 'urn:test:work:new',
          proposalId: 'urn:test:proposal',
          dependencyIds: [],
          exclusive: true,
        },
      }),
  ],
  'work.offer': [
    openItem,
    () =>
      offer({
        contract: contractOf({ contractVersion: 2, inputArtifacts: [hashOf('a')], constraints: { a: 1 } }),
        contextPackage: contextPackage(),
        offerExpiresInSeconds: 60,
      }),
  ],
  'work.accept_offer': [
    offeredItem,
    () =>
      acceptOffer({
        ownershipLeaseSeconds: 60,
        startBy: '2026-11-29T12:01:00Z',
        contractVersion: 1,
        scheduleEstimate: {
          estimatedStart: '2026-11-29T12:01:00Z',
          estimatedCompletion: '2026-11-29T13:00:00Z',
          confidence: 0.5,
          capacityStatus: 'available',
          lastCalculatedAt: '2026-11-29T12:00:00Z',
        },
      }),
  ],
  'work.start': [queuedItem, () => start({ executionLeaseSeconds: 60 })],
  'work.checkpoint': [
    activeItem,
    (world) =>
      byAgent(WORKER, 'work.checkpoint', {
        ...cited(world),
        checkpoint: { ...CHECKPOINT, nextStep: 'two', stateArtifactHash: hashOf('a') },
        resumeWithinSeconds: 60,
        progress: PROGRESS,
      }),
  ],
  'work.block': [
    activeItem,
    (world) =>
      byAgent(WORKER, 'work.block', {
        ...cited(world),
        reason: 'Needs a decision',
        checkpoint: CHECKPOINT,
        blockedLeaseSeconds: 60,
      }),
  ],
  'work.unblock': [blockedItem, () => byCoordinator('work.unblock', { workItemId: ITEM, resolution: 'Decided' })],
  'work.submit': [publishedItem, (world) => submit(world)],
  'work.accept_result': [submittedItem, () => acceptResult()],
  'work.fail': [
    activeItem,
    (world) =>
      byAgent(WORKER, 'work.fail', {
        ...cited(world),
        reason: 'It cannot be done',
        failureCode: 'TIMEOUT',
        evidence: [failureReport()],
      }),
  ],
  'work.cancel': [activeItem, () => byCoordinator('work.cancel', { workItemId: ITEM, reason: 'No longer needed' })],
  'artifact.publish': [activeItem, (world) => publish()(world)],
  'approval.grant_execution': [
    queuedItem,
    (world) =>
      byOwner('approval.grant_execution', {
        workItemId: ITEM,
        ownershipEpoch: 1,
        operations: ['run'],
        resources: [],
        budget: { modelTokenLimit: 1 },
        expiresAt: '2026-11-29T12:05:00Z',
        expiresInSeconds: 60,
        comments: 'Go ahead',
        approval: executionApprovalOf(ITEM, {
          missionRevision: world.view.mustGet('mission', MISSION).mission.revision,
          conditions: [
            'operation:run',
            'ownershipEpoch:1',
            'expiresAt:2026-11-29T12:05:00Z',
            `budgetHash:${canonicalHash({ modelTokenLimit: 1 })}`,
          ],
        }),
      }),
  ],
  'ext.missionweaveprotocol.core.work_execution_lease_renew': [
    activeItem,
    (world) =>
      byAgent(WORKER, 'ext.missionweaveprotocol.core.work_execution_lease_renew', {
        ...cited(world),
        leaseSeconds: 3_600,
        progress: PROGRESS,
      }),
  ],
  'ext.missionweaveprotocol.core.resource_usage_record': [
    activeItem,
    (world) =>
      byAgent(WORKER, 'ext.missionweaveprotocol.core.resource_usage_record', {
        ...cited(world),
        usageDelta: { financialMicrounits: 1, modelTokens: 1 },
      }),
  ],
  [EVENT_ERASE]: [
    saidMessage,
    () => ({
      kind: EVENT_ERASE,
      actor: SERVICE,
      groupId: GROUP,
      payload: { messageId: 'urn:test:message', reasonCode: 'personal_data' },
    }),
  ],
  [ARCHIVE]: [endedMission, (world) => archive(takenSnapshot(world), { actor: SERVICE })],
  'ext.missionweaveprotocol.identity.session_open': [
    activeItem,
    () => ({
      kind: 'ext.missionweaveprotocol.identity.session_open',
      actor: SERVICE,
      payload: { agentId: WORKER.id },
    }),
  ],
  'ext.missionweaveprotocol.registry.agent_card_register': [
    activeItem,
    () => ({
      kind: 'ext.missionweaveprotocol.registry.agent_card_register',
      actor: SERVICE,
      payload: { card: agentCard(WORKER, { cardVersion: 2, status: 'revoked' }) },
    }),
  ],
};
