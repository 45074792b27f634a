// WorkItems in each state, for the specs of the work Commands. Each builder goes through the Commands before it.
import type { Principal } from '../../src/protocol/principals.ts';
import type { LeaseAggregate, WorkItemAggregate, WorkItemState } from '../../src/domain/aggregates.ts';
import { activeMission, byCoordinator, CODING, COORDINATOR, GROUP, MISSION, RIVAL, WORKER } from './fixtures.ts';
import { artifactOf, evidenceOf, type Overriding } from './work-documents.ts';
import type { CommandDraft, FoldedEvent, World } from './world.ts';

export const ITEM = 'urn:test:work:1';
export const OTHER_ITEM = 'urn:test:work:2';
export const CONTRACT_DEADLINE = '2026-12-20T00:00:00Z';

export function contractOf(overrides: object = {}): Record<string, unknown> {
  return {
    contractVersion: 1,
    goal: 'Write the code',
    requiredDeliverables: [
      { deliverableId: 'code', description: 'The code', mediaType: 'text/plain', schema: 'https://example.test/code' },
    ],
    acceptanceCriteria: [
      { criterionId: 'works', description: 'Its tests pass', evidenceRequired: ['deterministic_test'] },
    ],
    inputArtifacts: [],
    dependencyWorkItemIds: [],
    allowedResources: [],
    requiredCapabilities: [CODING],
    deadline: CONTRACT_DEADLINE,
    requestedUrgency: 'normal',
    businessImpact: 'The release waits for it',
    retryPolicy: { maxAttempts: 3, backoff: 'fixed', maxDelay: 'PT1M', retryableFailures: ['TIMEOUT'] },
    budget: { currency: 'EUR', financialLimit: 10, modelTokenLimit: 1_000 },
    sideEffectRisk: 'none',
    executionApproval: 'not_required',
    ...overrides,
  };
}

export function basisOf(overrides: object = {}): Record<string, unknown> {
  return {
    requiredCapabilities: [CODING],
    verifiedMatches: [CODING],
    authorizationEligible: true,
    availabilityEstimate: '2026-11-29T13:00:00Z',
    expectedCost: 1,
    reliabilityEvidence: [],
    policyRulesApplied: ['default'],
    ...overrides,
  };
}

/** A Command of an Agent under its first epochs. */
export function byAgent(agent: Principal, kind: string, payload: object, envelope: object = {}): CommandDraft {
  return {
    kind,
    actor: agent,
    groupId: GROUP,
    sessionEpoch: 1,
    membershipEpoch: 1,
    payload: { ...payload },
    ...envelope,
  };
}

export function join(world: World, agent: Principal, payload: object = {}): void {
  world.accept(byCoordinator('membership.change', { principal: agent, roles: ['worker'], ...payload }));
}

/** The active Mission with two Workers in it. */
export function staffedMission(): World {
  const world = activeMission();
  join(world, WORKER);
  join(world, RIVAL);
  return world;
}

export function authorize(overrides: { payload?: object; contract?: object } = {}): CommandDraft {
  const payload = { workItemId: ITEM, contract: contractOf(overrides.contract), ...overrides.payload };
  return byCoordinator('work.authorize', payload);
}

export function offer(payload: object = {}, envelope: object = {}): CommandDraft {
  const members = { workItemId: ITEM, candidateAgentIds: [WORKER.id], selectionBasis: basisOf(), ...payload };
  return byCoordinator('work.offer', members, envelope);
}

export function acceptOffer(payload: object = {}, envelope: object = {}): CommandDraft {
  return byAgent(WORKER, 'work.accept_offer', { workItemId: ITEM, ...payload }, envelope);
}

export function start(payload: object = {}, envelope: object = {}): CommandDraft {
  return byAgent(WORKER, 'work.start', { workItemId: ITEM, ownershipEpoch: 1, ...payload }, envelope);
}

export interface Overrides {
  contract?: object;
  authorize?: object;
  offer?: object;
  accept?: object;
  start?: object;
}

export function openItem(overrides: Overrides = {}, world = staffedMission()): World {
  world.accept(
    authorize({
      ...(overrides.contract && { contract: overrides.contract }),
      ...(overrides.authorize && { payload: overrides.authorize }),
    }),
  );
  return world;
}

export function offeredItem(overrides: Overrides = {}, world = staffedMission()): World {
  openItem(overrides, world);
  world.accept(offer(overrides.offer));
  return world;
}

/** Owned by WORKER at Ownership Epoch 1, for 900 seconds. */
export function queuedItem(overrides: Overrides = {}, world = staffedMission()): World {
  offeredItem(overrides, world);
  world.accept(acceptOffer(overrides.accept));
  return world;
}

/** OTHER_ITEM, queued beside whatever the world has. */
export function queueOther(world: World, contract: object = {}): World {
  const workItemId = OTHER_ITEM;
  const about = { authorize: { workItemId }, offer: { workItemId }, accept: { workItemId } };
  return queuedItem({ ...about, contract }, world);
}

/** Executed by WORKER for 300 seconds. */
export function activeItem(overrides: Overrides = {}, world = staffedMission()): World {
  queuedItem(overrides, world);
  world.accept(start(overrides.start));
  return world;
}

export function itemOf(world: World, workItemId = ITEM): WorkItemAggregate {
  return world.view.mustGet('work_item', workItemId);
}

export function leaseIdOf(world: World, workItemId = ITEM): string {
  return itemOf(world, workItemId).details.executionLeaseId ?? 'urn:test:no-lease';
}

/** Every lease that the item ever had, by type. */
export function leasesOf(world: World, leaseType: LeaseAggregate['leaseType'], workItemId = ITEM): LeaseAggregate[] {
  return world.view
    .all()
    .flatMap(({ kind, document }) => (kind === 'lease' ? [document as LeaseAggregate] : []))
    .filter((lease) => lease.leaseType === leaseType && lease.workItemId === workItemId);
}

export function missionRevision(world: World): number {
  return world.view.mustGet('mission', MISSION).mission.revision;
}

export function only(events: FoldedEvent[]): FoldedEvent {
  const [event, ...more] = events;
  if (!event || more.length > 0) throw new Error(`expected one Event, got ${events.length}`);
  return event;
}

export function publish(overrides: object = {}, payload: object = {}): (world: World) => CommandDraft {
  return (world) => {
    const lease = { ownershipEpoch: itemOf(world).details.ownershipEpoch, executionLeaseId: leaseIdOf(world) };
    return byAgent(WORKER, 'artifact.publish', { artifact: artifactOf(ITEM, overrides), ...lease, ...payload });
  };
}

/** What the executing owner cites. */
export function cited(world: World, workItemId = ITEM) {
  const { ownershipEpoch } = itemOf(world, workItemId).details;
  return { workItemId, ownershipEpoch, executionLeaseId: leaseIdOf(world, workItemId) };
}

export function submit(world: World, payload: object = {}, envelope: object = {}): CommandDraft {
  const members = { artifactIds: ['urn:test:artifact:1'], evidence: [evidenceOf(ITEM)], ...payload };
  return byAgent(WORKER, 'work.submit', { ...cited(world), ...members }, envelope);
}

export function review(overrides: Overriding = {}) {
  return evidenceOf(ITEM, {
    evidenceId: 'urn:test:evidence:review',
    type: 'reviewer_assessment',
    generatedBy: COORDINATOR,
    ...overrides,
  });
}

export function acceptResult(payload: object = {}, envelope: object = {}): CommandDraft {
  return byCoordinator('work.accept_result', { workItemId: ITEM, evidence: [review()], ...payload }, envelope);
}

export function failureReport(overrides: Overriding = {}) {
  return evidenceOf(ITEM, {
    evidenceId: 'urn:test:evidence:failure',
    type: 'failure_report',
    result: 'failed',
    ...overrides,
  });
}

export const CHECKPOINT = { phase: 'half', completedMilestones: ['one'], createdAt: '2026-11-29T12:00:00Z' };

export function publishedItem(overrides: Overrides = {}, world = staffedMission()): World {
  activeItem(overrides, world);
  world.accept(publish()(world));
  return world;
}

export function submittedItem(overrides: Overrides = {}, world = staffedMission()): World {
  publishedItem(overrides, world);
  world.accept(submit(world));
  return world;
}

export function verifiedItem(overrides: Overrides = {}, world = staffedMission()): World {
  submittedItem(overrides, world);
  world.accept(acceptResult());
  return world;
}

export function blockedItem(overrides: Overrides = {}, world = staffedMission()): World {
  activeItem(overrides, world);
  const payload = { ...cited(world), reason: 'Needs a decision', checkpoint: CHECKPOINT };
  world.accept(byAgent(WORKER, 'work.block', payload));
  return world;
}

export function failedItem(overrides: Overrides = {}, world = staffedMission()): World {
  activeItem(overrides, world);
  const payload = { ...cited(world), reason: 'It cannot be done', evidence: [failureReport()] };
  world.accept(byAgent(WORKER, 'work.fail', payload));
  return world;
}

export function cancelledItem(overrides: Overrides = {}, world = staffedMission()): World {
  queuedItem(overrides, world);
  world.accept(byCoordinator('work.cancel', { workItemId: ITEM, reason: 'No longer needed' }));
  return world;
}

export const ITEM_IN_STATE = {
  open: openItem,
  offered: offeredItem,
  queued: queuedItem,
  active: activeItem,
  blocked: blockedItem,
  submitted: submittedItem,
  verified: verifiedItem,
  failed: failedItem,
  cancelled: cancelledItem,
} as const satisfies Record<WorkItemState, (overrides?: Overrides, world?: World) => World>;
