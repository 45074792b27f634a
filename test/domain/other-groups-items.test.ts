// Ids of another Group's aggregates in Commands of a member who may not see that Group: one answer as for what is absent.
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { byCoordinator, byOwner, missionCreate, WORKER } from '../support/fixtures.ts';
import { artifactOf, evidenceOf } from '../support/work-documents.ts';
import {
  acceptResult,
  activeItem,
  byAgent,
  CHECKPOINT,
  contractOf,
  failureReport,
  ITEM,
  offer,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const ELSEWHERE = 'urn:test:group:2';
const ABSENT = 'urn:test:work:absent';
const lease = { ownershipEpoch: 1, executionLeaseId: 'urn:test:lease' };

/** ITEM is active in GROUP; the Commands come from ELSEWHERE. */
function twoGroups(): World {
  const world = activeItem();
  const payload = { missionId: 'urn:test:mission:2', groupId: ELSEWHERE };
  world.accept(missionCreate({ envelope: { groupId: ELSEWHERE }, payload }));
  world.accept(byCoordinator('membership.change', { principal: WORKER, roles: ['worker'] }, { groupId: ELSEWHERE }));
  return world;
}

const DRAFTS: Record<string, (workItemId: string) => CommandDraft> = {
  'work.offer': (workItemId) => offer({ workItemId }),
  'work.offer with a contract': (workItemId) => offer({ workItemId, contract: contractOf({ contractVersion: 2 }) }),
  'work.accept_offer': (workItemId) => byAgent(WORKER, 'work.accept_offer', { workItemId }),
  'work.start': (workItemId) => byAgent(WORKER, 'work.start', { workItemId, ownershipEpoch: 1 }),
  'work.checkpoint': (workItemId) =>
    byAgent(WORKER, 'work.checkpoint', { workItemId, ...lease, checkpoint: CHECKPOINT }),
  'work.block': (workItemId) =>
    byAgent(WORKER, 'work.block', { workItemId, ...lease, reason: 'x', checkpoint: CHECKPOINT }),
  'work.unblock': (workItemId) => byCoordinator('work.unblock', { workItemId }),
  'work.submit': (workItemId) =>
    byAgent(WORKER, 'work.submit', {
      workItemId,
      ...lease,
      artifactIds: ['urn:test:artifact:1'],
      evidence: [evidenceOf(workItemId)],
    }),
  'work.accept_result': (workItemId) => acceptResult({ workItemId }),
  'work.fail': (workItemId) => byCoordinator('work.fail', { workItemId, reason: 'x', evidence: [failureReport()] }),
  'work.cancel': (workItemId) => byCoordinator('work.cancel', { workItemId, reason: 'x' }),
  'artifact.publish': (workItemId) =>
    byAgent(WORKER, 'artifact.publish', { artifact: artifactOf(workItemId), ...lease }),
  'lease renewal': (workItemId) =>
    byAgent(WORKER, 'ext.missionweaveprotocol.core.work_execution_lease_renew', { workItemId, ...lease }),
  'usage record': (workItemId) =>
    byAgent(WORKER, 'ext.missionweaveprotocol.core.resource_usage_record', {
      workItemId,
      ...lease,
      usageDelta: { toolCalls: 1 },
    }),
  'work.authorize below it': (parentWorkItemId) =>
    byCoordinator('work.authorize', { workItemId: 'urn:test:work:new', parentWorkItemId, contract: contractOf() }),
  'work.authorize to replace it': (replacesWorkItemId) =>
    byCoordinator('work.authorize', { workItemId: 'urn:test:work:new', replacesWorkItemId, contract: contractOf() }),
  'work.authorize waiting for it': (id) =>
    byCoordinator('work.authorize', {
      workItemId: 'urn:test:work:new',
      contract: contractOf({ dependencyWorkItemIds: [id] }),
    }),
  'work.propose below it': (parentWorkItemId) =>
    byCoordinator('work.propose', { proposalId: 'urn:test:proposal', parentWorkItemId, contract: contractOf() }),
};

function answer(world: World, draft: CommandDraft, envelope: object = {}): unknown {
  const decision = world.decide({ ...draft, groupId: ELSEWHERE, ...envelope });
  return isRefusal(decision) ? decision : 'accepted';
}

describe.each(Object.entries(DRAFTS))('%s', (_name, draftOf) => {
  it('MWP-FND-019: a WorkItem of another Group is as absent as one that does not exist', () => {
    const world = twoGroups();
    const answers = [ITEM, ABSENT].map((id) => answer(world, draftOf(id)));
    expect(answers[0]).toMatchObject({ code: 'INVALID_COMMAND' });
    expect(answers[0]).toEqual(answers[1]);
  });

  it("MWP-FND-019: expectedRevision tells nothing of another Group's WorkItem", () => {
    const world = twoGroups();
    // Some of these compare the Mission's revision, which is their own.
    const expectedRevision = world.view.mustGet('mission', 'urn:test:mission:2').mission.revision;
    const answers = [ITEM, ABSENT].map((id) => answer(world, draftOf(id), { expectedRevision }));
    expect(answers[0]).toMatchObject({ code: 'INVALID_COMMAND' });
    expect(answers[0]).toEqual(answers[1]);
  });

  it("MWP-FND-019: the limit of delegation depth tells nothing of another Group's WorkItem", () => {
    const world = twoGroups();
    world.policy.limits.delegationDepth = 0;
    expect(answer(world, draftOf(ITEM))).toEqual(answer(world, draftOf(ABSENT)));
  });
});

describe('other references', () => {
  it("MWP-FND-019: mission.create with expectedRevision tells nothing of another Group's Mission but that it exists", () => {
    const world = activeItem();
    const draft = missionCreate({ envelope: { groupId: ELSEWHERE }, payload: { groupId: ELSEWHERE } });
    expect(answer(world, draft, { expectedRevision: 0 })).toMatchObject({ code: 'INVALID_STATE_TRANSITION' });
    expect(answer(world, draft, { expectedRevision: 7 })).toMatchObject({
      code: 'REVISION_CONFLICT',
      currentRevision: 0,
    });
  });

  it('MWP-MSN-011: a provisional member cannot tell by expectedRevision an item that was never offered to it', () => {
    const world = activeItem();
    const provisional = {
      principal: { type: 'agent', id: 'urn:test:agent:stranger' },
      roles: ['worker'],
      provisional: true,
      provisionalExpiresAt: '2026-11-29T13:00:00Z',
      contextPackageId: 'urn:test:context',
    } as const;
    world.accept(byOwner('membership.change', provisional));
    const answers = [ITEM, ABSENT].map((workItemId) =>
      world.decide(byAgent(provisional.principal, 'work.accept_offer', { workItemId }, { expectedRevision: 0 })),
    );
    expect(answers[0]).toMatchObject({ code: 'INVALID_COMMAND' });
    expect(answers[0]).toEqual(answers[1]);
  });
});
