// WorkItems put straight into a World, for specs about what happens to work and not about how it came to be.
import {
  workItemAccountId,
  type Committed,
  type LeaseAggregate,
  type Offer,
  type WorkContract,
  type WorkItemState,
} from '../../src/domain/aggregates.ts';
import { NO_AMOUNTS } from '../../src/domain/budget.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { CODING, DEADLINE, GROUP, MISSION, WORKER } from './fixtures.ts';
import type { World } from './world.ts';

export const ITEM = 'urn:test:work:1';

export interface SeededItem {
  workItemId?: string;
  groupId?: string;
  missionId?: string;
  state?: WorkItemState;
  /** Seconds from now until its leases end; 300 unless given. */
  leaseSeconds?: number;
  owner?: Principal;
  offers?: Offer[];
  replacesWorkItemId?: string;
  artifactHashes?: string[];
}

const OWNED: readonly WorkItemState[] = ['queued', 'active', 'blocked', 'submitted', 'verified'];
const text = { commitment: `sha256:${'c'.repeat(64)}` };

export function seedItem(world: World, seeded: SeededItem = {}): string {
  const { workItemId = ITEM, groupId = GROUP, missionId = MISSION, state = 'active', owner = WORKER } = seeded;
  const expiresAt = addSeconds(world.now, seeded.leaseSeconds ?? 300);
  const lease = (leaseType: LeaseAggregate['leaseType'], more: Partial<LeaseAggregate> = {}): LeaseAggregate => ({
    leaseId: leaseIdOf(workItemId, leaseType),
    leaseType,
    missionId,
    groupId,
    workItemId,
    holderAgentId: owner.id,
    sessionEpoch: 1,
    ownershipEpoch: 1,
    issuedAt: addSeconds(world.now, -60),
    startsAt: addSeconds(world.now, -60),
    expiresAt,
    state: 'active',
    renewalCount: 0,
    ...more,
  });
  const held: LeaseAggregate[] = [];
  if (['queued', 'active', 'blocked'].includes(state)) {
    held.push(lease('ownership', { startBy: addSeconds(world.now, -30) }));
  }
  if (state === 'active') held.push(lease('execution'));
  if (state === 'blocked') held.push(lease('blocked'));
  for (const one of held) world.view.set('lease', one.leaseId, groupId, one);
  world.view.set('budget_account', workItemAccountId(workItemId), groupId, {
    accountId: workItemAccountId(workItemId),
    groupId,
    owner: { type: 'work_item', id: workItemId },
    parentAccountId: `mission ${missionId}`,
    limit: { toolCalls: 5 },
    allocated: NO_AMOUNTS,
    usage: NO_AMOUNTS,
    state: 'open',
  });
  world.view.set('work_item', workItemId, groupId, {
    workItem: {
      workItemId,
      missionId,
      groupId,
      conversationId: `${workItemId}:conversation`,
      revision: 7,
      state,
      exclusive: true,
      contract: contract(),
      ...(seeded.offers && { offers: seeded.offers }),
      ...(OWNED.includes(state) && { owner: ownerOf(world, owner, workItemId) }),
      ...(state === 'verified' && { submission: submission(world, seeded.artifactHashes ?? []) }),
      createdBy: owner,
      createdAt: world.now,
    },
    details: {
      ownershipEpoch: OWNED.includes(state) ? 1 : 0,
      delegationDepth: 0,
      ...(seeded.replacesWorkItemId !== undefined && { replacesWorkItemId: seeded.replacesWorkItemId }),
      ...(state === 'active' && { executionLeaseId: leaseIdOf(workItemId, 'execution') }),
      ...(state === 'blocked' && { blockedLeaseId: leaseIdOf(workItemId, 'blocked') }),
      artifactIds: [],
      executionApprovalIds: [],
    },
  });
  return workItemId;
}

export function leaseIdOf(workItemId: string, leaseType: LeaseAggregate['leaseType']): string {
  return `${workItemId}:${leaseType}`;
}

export function pendingOffer(agent: Principal, world: World): Offer {
  return {
    offerId: `urn:test:offer:${agent.id}`,
    agentId: agent.id,
    agentCardVersion: 1,
    expiresAt: addSeconds(world.now, 300),
    status: 'pending',
  };
}

function ownerOf(world: World, owner: Principal, workItemId: string) {
  return {
    agentId: owner.id,
    agentCardVersion: 1,
    capabilityPins: [CODING],
    ownershipEpoch: 1,
    ownershipLeaseId: leaseIdOf(workItemId, 'ownership'),
    acceptedAt: world.now,
  };
}

function submission(world: World, artifactHashes: string[]) {
  return { artifactHashes, evidenceIds: [], submittedAt: world.now };
}

function contract(): WorkContract<Committed> {
  return {
    contractVersion: 1,
    goal: text,
    requiredDeliverables: [],
    acceptanceCriteria: [],
    inputArtifacts: [],
    dependencyWorkItemIds: [],
    allowedResources: [],
    requiredCapabilities: [CODING],
    deadline: DEADLINE,
    requestedUrgency: 'normal',
    businessImpact: text,
    retryPolicy: { maxAttempts: 1, backoff: 'none', maxDelay: 'PT0S', retryableFailures: [] },
    budget: { toolCallLimit: 5 },
    sideEffectRisk: 'none',
    executionApproval: 'not_required',
  };
}
