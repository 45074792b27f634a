// Every work Command in every state of a WorkItem: what the table of commands.md (a) lists is accepted from a caller who
// may, and every other pair is refused for its state (MWP-WRK-003b). One pair has a code of its own.
import { describe, expect, it } from 'vitest';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { workItemSchema } from '../../src/protocol/documents/work-item.ts';
import type { WorkItemState } from '../../src/domain/aggregates.ts';
import { withTexts } from '../../src/domain/after-images.ts';
import { byCoordinator, byOwner, COORDINATOR, RIVAL, WORKER } from '../support/fixtures.ts';
import { artifactOf, evidenceOf, executionApprovalOf } from '../support/work-documents.ts';
import {
  acceptResult,
  byAgent,
  CHECKPOINT,
  failureReport,
  ITEM,
  ITEM_IN_STATE,
  itemOf,
  leaseIdOf,
  missionRevision,
  offer,
  review,
  start,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const STATES = Object.keys(ITEM_IN_STATE) as WorkItemState[];
const UNFINISHED: WorkItemState[] = ['open', 'offered', 'queued', 'active', 'blocked', 'submitted'];
const REFUSED = 'INVALID_STATE_TRANSITION';

/** What an owner would cite: the item's own epoch, or the first one where nobody has owned it yet. */
function citing(world: World) {
  const ownershipEpoch = Math.max(1, itemOf(world).details.ownershipEpoch);
  return { workItemId: ITEM, ownershipEpoch, executionLeaseId: leaseIdOf(world) };
}

function approve(world: World): CommandDraft {
  const { ownershipEpoch } = citing(world);
  const expiresAt = addSeconds(world.now, 60);
  const conditions = [
    'operation:read',
    `ownershipEpoch:${ownershipEpoch}`,
    `expiresAt:${expiresAt}`,
    `budgetHash:${canonicalHash({})}`,
  ];
  const approval = executionApprovalOf(ITEM, { missionRevision: missionRevision(world), conditions });
  const scope = { ownershipEpoch, operations: ['read'], expiresAt };
  return byOwner('approval.grant_execution', { workItemId: ITEM, approval, ...scope });
}

function publish(world: World): CommandDraft {
  const { ownershipEpoch, executionLeaseId } = citing(world);
  const artifact = artifactOf(ITEM, { artifactId: 'urn:test:artifact:new' });
  return byAgent(WORKER, 'artifact.publish', { artifact, ownershipEpoch, executionLeaseId });
}

const usage = { usageDelta: { modelTokens: 1 } };
const evidence = [evidenceOf(ITEM, { evidenceId: 'urn:test:evidence:new' })];
const failure = { reason: 'x', evidence: [failureReport({ evidenceId: 'urn:test:evidence:new' })] };
const coordinatorFailure = {
  reason: 'x',
  evidence: [failureReport({ evidenceId: 'urn:test:evidence:new', generatedBy: COORDINATOR })],
};

/** The Command from a caller who may send it, the states that the table lists, and how to make the item ready for it. */
const ROWS: [string, WorkItemState[], (world: World) => CommandDraft, ((world: World) => void)?][] = [
  ['work.offer (live owner)', ['open', 'offered', 'failed'], () => offer({ candidateAgentIds: [RIVAL.id] })],
  [
    'work.offer (owner lapsed)',
    ['open', 'offered', 'queued', 'active', 'blocked', 'failed'],
    () => offer({ candidateAgentIds: [RIVAL.id] }),
    (world) => world.advance(1_000),
  ],
  ['work.accept_offer', ['offered'], () => byAgent(WORKER, 'work.accept_offer', { workItemId: ITEM })],
  ['approval.grant_execution', ['queued'], approve],
  ['work.start', ['queued'], (world) => start({ ownershipEpoch: citing(world).ownershipEpoch })],
  ['lease renewal', ['active'], (world) => byAgent(WORKER, RENEW, { ...citing(world), leaseSeconds: 600 })],
  ['artifact.publish', ['active'], publish],
  ['usage by the owner', ['active'], (world) => byAgent(WORKER, USAGE, { ...citing(world), ...usage })],
  [
    'work.checkpoint',
    ['active'],
    (world) => byAgent(WORKER, 'work.checkpoint', { ...citing(world), checkpoint: CHECKPOINT }),
  ],
  [
    'work.block',
    ['active'],
    (world) => byAgent(WORKER, 'work.block', { ...citing(world), reason: 'x', checkpoint: CHECKPOINT }),
  ],
  ['work.unblock', ['blocked'], () => byCoordinator('work.unblock', { workItemId: ITEM })],
  [
    'work.submit',
    ['active'],
    (world) => byAgent(WORKER, 'work.submit', { ...citing(world), artifactIds: ['urn:test:artifact:1'], evidence }),
    (world) => {
      const artifact = artifactOf(ITEM, { signingHash: 'x' });
      if (itemOf(world).workItem.state === 'active')
        world.view.set('artifact', 'urn:test:artifact:1', 'g', artifact as never);
    },
  ],
  ['work.accept_result', ['submitted'], () => acceptResult({ evidence: [review()] })],
  [
    'work.fail (Coordinator)',
    UNFINISHED,
    () => byCoordinator('work.fail', { workItemId: ITEM, ...coordinatorFailure }),
  ],
  ['work.fail (Worker)', ['active'], (world) => byAgent(WORKER, 'work.fail', { ...citing(world), ...failure })],
  ['work.cancel (Coordinator)', UNFINISHED, () => byCoordinator('work.cancel', { workItemId: ITEM, reason: 'x' })],
  ['work.cancel (MissionOwner)', UNFINISHED, () => byOwner('work.cancel', { workItemId: ITEM, reason: 'x' })],
];

const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';
const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';

describe.each(ROWS)('MWP-WRK-003b: %s', (_, allowed, command, prepare) => {
  it.each(STATES)('on %s work', (state) => {
    const world = ITEM_IN_STATE[state]();
    prepare?.(world);
    expect(world.outcome(command(world))).toBe(allowed.includes(state) ? 'accepted' : REFUSED);
  });
});

describe('MWP-WRK-004c: work.accept_offer by another candidate', () => {
  const owned: WorkItemState[] = ['queued', 'active', 'blocked', 'submitted'];
  it.each(STATES.filter((state) => state !== 'offered'))('on %s work', (state) => {
    const world = ITEM_IN_STATE[state]({ offer: { candidateAgentIds: [WORKER.id, RIVAL.id] } });
    const outcome = world.outcome(byAgent(RIVAL, 'work.accept_offer', { workItemId: ITEM }));
    expect(outcome).toBe(owned.includes(state) ? 'WORK_ALREADY_OWNED' : REFUSED);
  });
});

describe('MWP-WRK-003b: a stale revision is a conflict in every state, whatever the Command', () => {
  it.each(STATES)('on %s work', (state) => {
    const world = ITEM_IN_STATE[state]();
    const expectedRevision = itemOf(world).workItem.revision - 1;
    const cancelled = byCoordinator('work.cancel', { workItemId: ITEM, reason: 'x' }, { expectedRevision });
    expect(world.outcome(cancelled)).toBe('REVISION_CONFLICT');
  });
});

describe('work-item.schema.json: the item is a normative WorkItem in every state', () => {
  it.each(STATES)('%s', (state) => {
    const world = ITEM_IN_STATE[state]();
    const { workItem } = withTexts(itemOf(world), (commitment) => world.texts.get(commitment));
    expect(workItemSchema.safeParse(workItem).error).toBeUndefined();
  });
});
