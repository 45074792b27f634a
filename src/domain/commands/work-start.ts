// work.start: the owner begins execution under a fresh Execution Lease (commands.md 1.22, WT-7).
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { grantedEnd, moveEnd, openLease } from '../leases.ts';
import { checkPins } from '../pinned-cards.ts';
import { list, one, type ListRead } from '../reads.ts';
import {
  checkMissionActive,
  checkWorkOwner,
  groupOf,
  missionOf,
  ownershipLease,
  startByPassed,
  workItemIn,
  workReads,
} from '../roles.ts';
import type { View } from '../view.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { epoch, optional, payload, seconds } from './shapes.ts';

const DEFAULT_LEASE_SECONDS = 300;

const schema = payload({ workItemId: id, ownershipEpoch: epoch, executionLeaseSeconds: optional(seconds) });

export type WorkStartPayload = z.infer<typeof schema>;

export const workStart: CommandKind<WorkStartPayload> = {
  kind: 'work.start',
  payload: schema,
  actors: ['agent'],
  locks: { actor: 'exclusive' },
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ command, payload }) => [
    ...workReads(payload.workItemId),
    one('agent_card', command.actor.id),
    activeWorkRead(command.actor.id),
  ],

  /** Dependencies and Execution Approvals are named by the item. */
  moreReads({ payload }, view) {
    const item = view.get('work_item', payload.workItemId);
    if (!item) return [];
    return [
      ...item.workItem.contract.dependencyWorkItemIds.map((dependency) => one('work_item', dependency)),
      ...item.details.executionApprovalIds.map((approval) => one('approval', approval)),
    ];
  },

  /** (f), and what the Agent's own Card promises (MWP-WRK-011a): counted over all Groups; the exclusive actor lock keeps two starts from both seeing room. */
  limits({ command }, view, { policy }) {
    const active = view.list(activeWorkRead(command.actor.id)).length;
    const slots = view.get('agent_card', command.actor.id)?.maxConcurrency ?? policy.limits.activeWorkItems;
    if (active < Math.min(policy.limits.activeWorkItems, slots)) return undefined;
    return refuse('RATE_LIMITED', 'the limit of active WorkItems is reached', {
      details: { limit: 'active_work_items' },
    });
  },

  decide({ command, payload }, view, context) {
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const refusal =
      checkWorkOwner(command, item, payload.ownershipEpoch, view, context.now) ??
      checkMissionActive(command, view) ??
      checkQueued(item) ??
      checkStartBy(item, view, context.now) ??
      checkPins(item, view) ??
      checkDependencies(item, view) ??
      checkApproval(item, view, context);
    if (refusal) return refusal;
    const expiresAt = executionEnd(payload, item, view, context);
    if (isRefusal(expiresAt)) return expiresAt;
    return { events: [started({ command, payload }, item, expiresAt, view, context)] };
  },
};

function activeWorkRead(agentId: string): ListRead & { kind: 'work_item' } {
  return list('work_item', { holder: agentId, states: ['active'] }) as ListRead & { kind: 'work_item' };
}

function checkQueued(item: WorkItemAggregate): Refusal | undefined {
  if (item.workItem.state === 'queued') return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${item.workItem.state}`);
}

function checkStartBy(item: WorkItemAggregate, view: View, now: string): Refusal | undefined {
  const ownership = ownershipLease(item, view);
  if (!ownership || !startByPassed(ownership, now)) return undefined;
  return refuse('WORK_LEASE_EXPIRED', 'the start-by deadline has passed');
}

function checkDependencies(item: WorkItemAggregate, view: View): Refusal | undefined {
  const unmet = item.workItem.contract.dependencyWorkItemIds.find(
    (dependency) => view.get('work_item', dependency)?.workItem.state !== 'verified',
  );
  if (unmet === undefined) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'a dependency is not verified yet', { details: { workItemId: unmet } });
}

/** The gate that section 12 calls `awaiting_execution_approval`: the item stays queued (T-2). */
export function checkApproval(
  item: WorkItemAggregate,
  view: View,
  { now, policy }: Pick<DecisionContext, 'now' | 'policy'>,
): Refusal | undefined {
  if (!needsApproval(item, view, policy.autoApprovePolicyRequired)) return undefined;
  const approved = item.details.executionApprovalIds.some((approvalId) => {
    const scope = view.get('approval', approvalId)?.scope;
    return scope?.ownershipEpoch === item.details.ownershipEpoch && compareTimestamps(now, scope.expiresAt) < 0;
  });
  if (approved) return undefined;
  return refuse('APPROVAL_REQUIRED', 'the WorkItem waits for an Execution Approval');
}

export function needsApproval(item: WorkItemAggregate, view: View, autoApprove: boolean): boolean {
  const { executionApproval, sideEffectRisk } = item.workItem.contract;
  if (executionApproval === 'human_required') return true;
  const { approvalPolicy } = missionOf(view, item.workItem.groupId).mission;
  const risky = sideEffectRisk === 'high_risk' || sideEffectRisk === 'destructive';
  if (risky && approvalPolicy.highRiskExecutionApproval) return true;
  return executionApproval === 'policy_required' && !autoApprove;
}

function executionEnd(
  payload: WorkStartPayload,
  { workItem }: WorkItemAggregate,
  view: View,
  { now, policy }: DecisionContext,
): string | Refusal {
  const asked = Math.min(payload.executionLeaseSeconds ?? DEFAULT_LEASE_SECONDS, policy.leases.executionMaximum);
  const { deadline } = missionOf(view, workItem.groupId).mission;
  return grantedEnd(now, asked, workItem.contract.deadline, deadline);
}

function started(
  { command, payload }: Request<WorkStartPayload>,
  item: WorkItemAggregate,
  expiresAt: string,
  view: View,
  { now, newId }: DecisionContext,
) {
  const { missionId, groupId, workItemId } = item.workItem;
  const ownership = ownershipLease(item, view);
  if (!ownership || command.sessionEpoch === undefined) throw new Error('checked before');
  const executionLease = openLease(now, {
    leaseId: newId(),
    leaseType: 'execution',
    missionId,
    groupId,
    workItemId,
    holderAgentId: command.actor.id,
    sessionEpoch: command.sessionEpoch,
    ownershipEpoch: payload.ownershipEpoch,
    expiresAt,
  });
  return {
    kind: 'work.started',
    ...workEvent(item),
    payload: {
      workItemId,
      ownershipEpoch: payload.ownershipEpoch,
      executionLease,
      executionLeaseExpiresAt: executionLease.expiresAt,
      ownershipLease: moveEnd(ownership, executionLease.expiresAt),
    },
  };
}
