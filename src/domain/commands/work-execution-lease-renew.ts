// work_execution_lease_renew: the executing owner extends its Execution Lease, and with it its ownership (commands.md 2.4,
// MWP-WRK-013). Ours: without a Lease ID, the owner of queued or blocked work extends its ownership.
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { workProgress } from '../../protocol/documents/work-item.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import type { LeaseAggregate, WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { checkExecuting, heldOwnership } from '../execution.ts';
import { cappedEnd, moveEnd, renewLease } from '../leases.ts';
import { checkPins } from '../pinned-cards.ts';
import {
  checkWorkOwner,
  executionLease,
  groupOf,
  missionOf,
  startByPassed,
  workItemIn,
  workLeasesRead,
  workReads,
} from '../roles.ts';
import type { View } from '../view.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { epoch, optional, payload, seconds } from './shapes.ts';

const DEFAULT_LEASE_SECONDS = 300;

const schema = payload({
  workItemId: id,
  ownershipEpoch: epoch,
  executionLeaseId: optional(id),
  leaseSeconds: optional(seconds),
  progress: optional(workProgress),
});

export type WorkExecutionLeaseRenewPayload = z.infer<typeof schema>;
type Renewal = Request<WorkExecutionLeaseRenewPayload>;

interface RenewedLeases {
  executionLease?: LeaseAggregate;
  executionLeaseExpiresAt?: string;
  blockedLease?: LeaseAggregate;
  ownershipLease: LeaseAggregate;
}

export const workExecutionLeaseRenew: CommandKind<WorkExecutionLeaseRenewPayload> = {
  kind: 'ext.missionweaveprotocol.core.work_execution_lease_renew',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ payload }) => workReads(payload.workItemId),

  decide(request, view, context) {
    const { command, payload } = request;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const renewed =
      payload.executionLeaseId === undefined
        ? renewedOwnership(request, item, view, context)
        : renewedExecution(request, payload.executionLeaseId, item, view, context);
    if (isRefusal(renewed)) return renewed;
    const { workItemId, ownershipEpoch, progress } = payload;
    return {
      events: [
        {
          kind: 'work.progressed',
          ...workEvent(item),
          payload: { workItemId, ownershipEpoch, ...renewed, ...(progress && { progress }) },
        },
      ],
    };
  },
};

function renewedExecution(
  request: Renewal,
  executionLeaseId: string,
  item: WorkItemAggregate,
  view: View,
  context: DecisionContext,
): RenewedLeases | Refusal {
  const { command, payload } = request;
  const cited = { ownershipEpoch: payload.ownershipEpoch, executionLeaseId };
  const refusal = checkExecuting(command, item, cited, view, context.now) ?? checkPins(item, view);
  if (refusal) return refusal;
  const lease = executionLease(item, view);
  if (!lease) throw new Error('checked before');
  const renewed = renew(request, lease, context.policy.leases.executionMaximum, item, view, context);
  if (isRefusal(renewed)) return renewed;
  return {
    executionLease: renewed,
    executionLeaseExpiresAt: renewed.expiresAt,
    ownershipLease: moveEnd(heldOwnership(item, view), renewed.expiresAt),
  };
}

function renewedOwnership(
  request: Renewal,
  item: WorkItemAggregate,
  view: View,
  context: DecisionContext,
): RenewedLeases | Refusal {
  const { command, payload } = request;
  const { now, policy } = context;
  const refusal =
    checkWorkOwner(command, item, payload.ownershipEpoch, view, now) ??
    checkWaiting(item, view, now) ??
    checkPins(item, view);
  if (refusal) return refusal;
  const lease = heldOwnership(item, view);
  const blocked = view.list(workLeasesRead(payload.workItemId)).find(({ leaseType }) => leaseType === 'blocked');
  const maximum = blocked ? policy.leases.blockedMaximum : policy.leases.ownershipMaximum;
  const renewed = renew(request, lease, maximum, item, view, context);
  if (isRefusal(renewed)) return renewed;
  // A promise to start earlier than ownership ends is not put off by renewing.
  const startBy = lease.startBy === lease.expiresAt ? renewed.expiresAt : lease.startBy;
  const ownershipLease = { ...renewed, ...(startBy !== undefined && { startBy }) };
  if (!blocked) return { ownershipLease };
  return { ownershipLease, blockedLease: renewLease(blocked, renewed.expiresAt, renewed.sessionEpoch, now) };
}

function checkWaiting(item: WorkItemAggregate, view: View, now: string): Refusal | undefined {
  const { state } = item.workItem;
  if (state === 'active') return refuse('INVALID_COMMAND', 'an active WorkItem renews its Execution Lease');
  if (state === 'blocked') return undefined;
  if (state !== 'queued') return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${state}`);
  if (!startByPassed(heldOwnership(item, view), now)) return undefined;
  return refuse('WORK_LEASE_EXPIRED', 'the start-by deadline has passed');
}

/** The same lease with a strictly later end, under the policy's maximum and both deadlines. */
function renew(
  { command, payload }: Renewal,
  lease: LeaseAggregate,
  maximum: number,
  { workItem }: WorkItemAggregate,
  view: View,
  { now }: DecisionContext,
): LeaseAggregate | Refusal {
  const asked = Math.min(payload.leaseSeconds ?? DEFAULT_LEASE_SECONDS, maximum);
  const { deadline } = missionOf(view, workItem.groupId).mission;
  const expiresAt = cappedEnd(now, asked, workItem.contract.deadline, deadline);
  if (compareTimestamps(lease.expiresAt, expiresAt) >= 0) {
    return refuse('INVALID_COMMAND', 'the lease would not end later than it does');
  }
  return renewLease(lease, expiresAt, command.sessionEpoch ?? lease.sessionEpoch, now);
}
