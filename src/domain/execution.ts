// Acting on a WorkItem that one executes: the owner, while active, under its current Execution Lease (checks W and L of
// commands.md 0.3, MWP-WRK-013c), and how that lease is handed back.
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { LeaseAggregate, WorkItemAggregate } from './aggregates.ts';
import type { Command } from './decider.ts';
import { closeLease } from './leases.ts';
import { checkExecutionLease, checkWorkOwner, executionLease, ownershipLease } from './roles.ts';
import type { View } from './view.ts';

export interface CitedLease {
  ownershipEpoch: number;
  executionLeaseId: string;
}

export function checkExecuting(
  command: Command,
  item: WorkItemAggregate,
  cited: CitedLease,
  view: View,
  now: string,
): Refusal | undefined {
  return (
    checkWorkOwner(command, item, cited.ownershipEpoch, view, now) ??
    checkActive(item) ??
    checkExecutionLease(command, item, cited.executionLeaseId, view, now)
  );
}

function checkActive({ workItem }: WorkItemAggregate): Refusal | undefined {
  if (workItem.state === 'active') return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${workItem.state}`);
}

/** MWP-WRK-014b: checkpoint, block and submit release it. */
export function releasedExecution(item: WorkItemAggregate, view: View, reason: string, now: string): LeaseAggregate {
  const lease = executionLease(item, view);
  if (!lease) throw new Error('checked before');
  return closeLease(lease, 'released', reason, now);
}

export function heldOwnership(item: WorkItemAggregate, view: View): LeaseAggregate {
  const lease = ownershipLease(item, view);
  if (!lease) throw new Error('checked before');
  return lease;
}
