// work.block: the executing owner cannot go on and says what it needs; it frees its slot and may keep the WorkItem under
// a bounded blocked lease (commands.md 1.24, WT-9, MWP-WRK-017a). `reason` states the resolution that is needed.
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, type Refusal } from '../../protocol/refusals.ts';
import type { LeaseAggregate, WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { checkExecuting, heldOwnership, releasedExecution } from '../execution.ts';
import { grantedEnd, openLease, resumeOwnership } from '../leases.ts';
import { groupOf, missionOf, workItemIn, workReads } from '../roles.ts';
import type { View } from '../view.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { checkpoint, checkpointOf } from './checkpoint.ts';
import { epoch, optional, payload, reason, seconds } from './shapes.ts';

const DEFAULT_LEASE_SECONDS = 900;

const schema = payload({
  workItemId: id,
  ownershipEpoch: epoch,
  executionLeaseId: id,
  reason,
  checkpoint,
  blockedLeaseSeconds: optional(seconds),
});

export type WorkBlockPayload = z.infer<typeof schema>;

export const workBlock: CommandKind<WorkBlockPayload> = {
  kind: 'work.block',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ payload }) => workReads(payload.workItemId),

  decide(request, view, context) {
    const { command, payload } = request;
    const { now, newId } = context;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const refusal = checkExecuting(command, item, payload, view, now);
    if (refusal) return refusal;
    const leases = blockedLeases(request, item, view, context);
    if (isRefusal(leases)) return leases;
    const { groupId, workItemId } = item.workItem;
    const { ownershipEpoch, executionLeaseId } = payload;
    const origin = { checkpointId: newId(), groupId, workItemId, ownershipEpoch, executionLeaseId };
    return {
      events: [
        {
          kind: 'work.blocked',
          ...workEvent(item),
          payload: {
            workItemId,
            reason: payload.reason,
            ownershipLeaseExpiresAt: leases.ownershipLease.expiresAt,
            checkpoint: checkpointOf(payload.checkpoint, origin),
            ...leases,
            closedLeases: [releasedExecution(item, view, 'blocked', now)],
          },
        },
      ],
    };
  },
};

/** The owner keeps the item exactly as long as its blocked lease. */
function blockedLeases(
  { command, payload }: Request<WorkBlockPayload>,
  item: WorkItemAggregate,
  view: View,
  { now, newId, policy }: DecisionContext,
): { blockedLease: LeaseAggregate; ownershipLease: LeaseAggregate } | Refusal {
  const { missionId, groupId, workItemId, contract } = item.workItem;
  const seconds = Math.min(payload.blockedLeaseSeconds ?? DEFAULT_LEASE_SECONDS, policy.leases.blockedMaximum);
  const { deadline } = missionOf(view, groupId).mission;
  const expiresAt = grantedEnd(now, seconds, contract.deadline, deadline);
  if (isRefusal(expiresAt)) return expiresAt;
  const blockedLease = openLease(now, {
    leaseId: newId(),
    leaseType: 'blocked',
    missionId,
    groupId,
    workItemId,
    holderAgentId: command.actor.id,
    sessionEpoch: command.sessionEpoch ?? 0,
    ownershipEpoch: payload.ownershipEpoch,
    expiresAt,
  });
  const ownershipLease = resumeOwnership(heldOwnership(item, view), now, seconds, contract.deadline, deadline);
  return { blockedLease, ownershipLease };
}
