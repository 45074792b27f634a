// resource_usage_record: what the execution of a WorkItem used, charged exactly or not at all (commands.md 2.5,
// MWP-AUT-005). The executing owner reports it, or a metering service, also after the work ended.
import { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { workItemAccountId, type BudgetAccountAggregate, type WorkItemAggregate } from '../aggregates.ts';
import { add, checkFits, DIMENSIONS, NO_AMOUNTS, remainingOf } from '../budget.ts';
import type { CommandKind, PolicyEntryDraft, Request } from '../decider.ts';
import { checkExecuting } from '../execution.ts';
import { one } from '../reads.ts';
import { groupOf, workItemIn, workReads } from '../roles.ts';
import type { View } from '../view.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { amount, epoch, optional, payload } from './shapes.ts';

const usageDelta = z
  .strictObject({
    financialMicrounits: optional(amount),
    modelTokens: optional(amount),
    toolCalls: optional(amount),
    computeSeconds: optional(amount),
    wallClockSeconds: optional(amount),
    externalActions: optional(amount),
  })
  .refine((delta) => Object.values(delta).some((value) => (value ?? 0) > 0), 'must not be zero in every dimension');

const schema = payload({ workItemId: id, ownershipEpoch: epoch, executionLeaseId: id, usageDelta });

export type ResourceUsageRecordPayload = z.infer<typeof schema>;

export const resourceUsageRecord: CommandKind<ResourceUsageRecordPayload> = {
  kind: 'ext.missionweaveprotocol.core.resource_usage_record',
  payload: schema,
  actors: ['agent', 'service'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  reads: ({ payload }) => [
    ...workReads(payload.workItemId),
    one('lease', payload.executionLeaseId),
    one('budget_account', workItemAccountId(payload.workItemId)),
  ],

  decide(request, view, { now }) {
    const { command, payload } = request;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const { workItemId, revision } = item.workItem;
    const account = view.mustGet('budget_account', workItemAccountId(workItemId));
    const refusal =
      (command.actor.type === 'service'
        ? checkMetered(request, item, account, view)
        : checkExecuting(command, item, payload, view, now)) ?? checkFits(account, amountsIn(payload));
    if (refusal) return refusal;
    const usage = add(account.usage, amountsIn(payload));
    const charged = { ...account, usage };
    return {
      events: [
        {
          kind: 'ext.missionweaveprotocol.core.resource_usage_recorded',
          ...workEvent(item, revision),
          payload: {
            workItemId,
            executionLeaseId: payload.executionLeaseId,
            ownershipEpoch: payload.ownershipEpoch,
            usageDelta: add(NO_AMOUNTS, amountsIn(payload)),
            cumulativeUsage: usage,
            remainingBudget: remainingOf(charged),
          },
        },
      ],
      ...exhaustion(account, charged, item),
    };
  },
};

function amountsIn({ usageDelta: delta }: ResourceUsageRecordPayload) {
  const amounts = { ...NO_AMOUNTS };
  for (const dimension of DIMENSIONS) amounts[dimension] = delta[dimension] ?? 0;
  return amounts;
}

/** Late metering: the lease may be closed and the work ended, but the account not settled yet. */
function checkMetered(
  { payload }: Request<ResourceUsageRecordPayload>,
  { workItem }: WorkItemAggregate,
  account: BudgetAccountAggregate,
  view: View,
): Refusal | undefined {
  const lease = view.get('lease', payload.executionLeaseId);
  if (lease?.leaseType !== 'execution' || lease.workItemId !== workItem.workItemId) {
    return refuse('INVALID_COMMAND', 'no such Execution Lease of this WorkItem');
  }
  if (lease.ownershipEpoch !== payload.ownershipEpoch) {
    return refuse('WORK_STALE_OWNERSHIP', 'the Execution Lease is of another Ownership Epoch');
  }
  if (account.state !== 'released') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the account of the WorkItem is settled');
}

/** MWP-AUT-004b: nothing more can be charged in this dimension; somebody has to decide about it. */
function exhaustion(before: BudgetAccountAggregate, after: BudgetAccountAggregate, { workItem }: WorkItemAggregate) {
  const [had, left] = [remainingOf(before), remainingOf(after)];
  const dimensions = DIMENSIONS.filter((dimension) => left[dimension] === 0 && had[dimension] !== 0);
  if (dimensions.length === 0) return {};
  const { groupId, workItemId } = workItem;
  const details = { rule: 'MWP-AUT-004b', workItemId, dimensions };
  const entry: PolicyEntryDraft = { groupId, decision: 'the budget of a WorkItem is exhausted', details, draft: 0 };
  return { policyLog: [entry] };
}
