// work.fail: the executing owner, or the Coordinator, gives a WorkItem up with Evidence of why (commands.md 1.29, WT-13,
// MWP-WRK-018b). Only a new work.offer leads on from there; until then it shows whose it was.
import type { z } from 'zod';
import type { Evidence } from '../../protocol/documents/evidence.ts';
import { id, pattern } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind, Request } from '../decider.ts';
import { checkEvidence, evidenceDocuments, evidenceList, evidenceMembers, evidenceReads } from '../evidence.ts';
import { checkExecuting } from '../execution.ts';
import {
  checkCoordinator,
  coordinatorReads,
  groupOf,
  missionOf,
  workItemIn,
  workLeasesRead,
  workReads,
} from '../roles.ts';
import type { View } from '../view.ts';
import { closedLeases, isUnfinished, workEvent, workItemRevision } from '../work-items.ts';
import { epoch, optional, payload, reason } from './shapes.ts';

const schema = payload({
  workItemId: id,
  reason,
  failureCode: optional(pattern(/^[A-Z][A-Z0-9_]{1,127}$/, 128, 'must be a failure code in capitals')),
  evidence: evidenceList,
  ownershipEpoch: optional(epoch),
  executionLeaseId: optional(id),
});

export type WorkFailPayload = z.infer<typeof schema>;

export const workFail: CommandKind<WorkFailPayload> = {
  kind: 'work.fail',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  documents: ({ evidence }) => evidenceDocuments(evidence),

  reads: ({ command, payload }) => [
    ...coordinatorReads(command),
    ...workReads(payload.workItemId),
    ...evidenceReads(groupOf(command), payload.workItemId, payload.evidence),
  ],

  decide(request, view, context) {
    const { command, payload } = request;
    const { now } = context;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    const authority = isRefusal(item) ? checkCoordinator(command, view, now) : checkAuthority(request, item, view, now);
    if (authority) return authority;
    if (isRefusal(item)) return item;
    const evidence = payload.evidence as unknown as Evidence[];
    const refusal = checkUnfinished(item) ?? checkEvidence(evidence, item, view, context) ?? checkReport(evidence);
    if (refusal) return refusal;
    const { workItemId } = item.workItem;
    const { failureCode } = payload;
    return {
      events: [
        {
          kind: 'work.failed',
          ...workEvent(item),
          payload: {
            workItemId,
            reason: payload.reason,
            ...(failureCode !== undefined && { failureCode }),
            ...evidenceMembers(payload.evidence, context),
            closedLeases: closedLeases(view.list(workLeasesRead(workItemId)), 'revoked', 'failed', now),
          },
        },
      ],
    };
  },
};

/** The owner cites its lease, the Coordinator its epoch; a Coordinator who is the owner acts as what it cites. */
function checkAuthority(
  { command, payload }: Request<WorkFailPayload>,
  item: WorkItemAggregate,
  view: View,
  now: string,
) {
  const { ownershipEpoch, executionLeaseId } = payload;
  if (ownershipEpoch !== undefined && executionLeaseId !== undefined) {
    return checkExecuting(command, item, { ownershipEpoch, executionLeaseId }, view, now);
  }
  const { coordinator } = missionOf(view, groupOf(command)).mission;
  const coordinates = command.coordinatorEpoch !== undefined || command.actor.id === coordinator.agentId;
  if (ownershipEpoch !== undefined || executionLeaseId !== undefined || !coordinates) {
    return refuse('INVALID_COMMAND', 'the owner cites both ownershipEpoch and executionLeaseId');
  }
  return checkCoordinator(command, view, now);
}

function checkUnfinished(item: WorkItemAggregate): Refusal | undefined {
  if (isUnfinished(item)) return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${item.workItem.state}`);
}

function checkReport(evidence: readonly Evidence[]): Refusal | undefined {
  if (evidence.some(({ type }) => type === 'failure_report')) return undefined;
  return refuse('INVALID_COMMAND', 'a failure needs Evidence of type failure_report');
}
