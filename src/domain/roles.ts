// The role checks of commands.md 0.3, in their order: epochs first, so that whoever was replaced learns that it is stale.
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { samePrincipal } from '../protocol/principals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import { membershipKey, type LeaseAggregate, type MissionAggregate, type WorkItemAggregate } from './aggregates.ts';
import type { Command } from './decider.ts';
import { isLive } from './leases.ts';
import { hasActiveRole } from './memberships.ts';
import { list, one, type ListRead, type Read } from './reads.ts';
import type { View } from './view.ts';
import { isUnfinished } from './work-items.ts';

/** The Mission of the Command's Group. It exists whenever the Group does; the common reads load it. */
export function missionOf(view: View, groupId: string): MissionAggregate {
  const mission = view.list(missionRead(groupId))[0];
  if (!mission) throw new Error(`Group without Mission: ${groupId}`);
  return mission;
}

export function missionRead(groupId: string): ListRead & { kind: 'mission' } {
  return list('mission', { groupId }) as ListRead & { kind: 'mission' };
}

/** The actor's live leases of every kind in this Group. */
export function ownLeasesRead(command: Command): ListRead & { kind: 'lease' } {
  const where = { groupId: groupOf(command), states: ['active'], holder: command.actor.id };
  return list('lease', where) as ListRead & { kind: 'lease' };
}

/** The unclosed leases of a WorkItem, whoever holds them. */
export function workLeasesRead(workItemId: string): ListRead & { kind: 'lease' } {
  return list('lease', { parent: workItemId, states: ['active'] }) as ListRead & { kind: 'lease' };
}

/** What the checks W and L look at. */
export function workReads(workItemId: string): Read[] {
  return [one('work_item', workItemId), workLeasesRead(workItemId)];
}

/** What the check K looks at beyond the common reads. */
export function coordinatorReads(command: Command): Read[] {
  return command.actor.type === 'agent' ? [ownLeasesRead(command)] : [];
}

export function groupOf(command: Command): string {
  if (command.groupId === undefined) throw new Error(`${command.kind} without Group passed the schema`);
  return command.groupId;
}

/** K: the current Coordinator with its current epoch and a live lease. */
export function checkCoordinator(command: Command, view: View, now: string): Refusal | undefined {
  const { mission } = missionOf(view, groupOf(command));
  if (command.coordinatorEpoch !== mission.coordinator.coordinatorEpoch) {
    return refuse('AUTH_STALE_COORDINATOR', 'the Coordinator Epoch is not the current one');
  }
  const membership = view.get('membership', membershipKey(mission.groupId, command.actor));
  const isCoordinator = command.actor.type === 'agent' && command.actor.id === mission.coordinator.agentId;
  if (!isCoordinator || !hasActiveRole(membership, 'coordinator')) {
    return refuse('AUTH_FORBIDDEN', 'only the Coordinator may do this');
  }
  // The lease ended with the Mission, but that the Mission ended says more (MWP-MSN-002a).
  const ended = checkMissionNotTerminal(command, view);
  if (ended) return ended;
  const lease = view.list(ownLeasesRead(command)).find(({ leaseId }) => leaseId === mission.coordinator.leaseId);
  if (!isLive(lease, now)) return refuse('AUTH_STALE_COORDINATOR', 'the Coordinator lease has lapsed');
  return undefined;
}

/** O: the accountable MissionOwner. */
export function checkOwner(command: Command, view: View): Refusal | undefined {
  if (isOwner(command, view)) return undefined;
  return refuse('AUTH_FORBIDDEN', 'only the MissionOwner may do this');
}

export function isOwner(command: Command, view: View): boolean {
  const { mission } = missionOf(view, groupOf(command));
  const membership = view.get('membership', membershipKey(mission.groupId, command.actor));
  return samePrincipal(mission.missionOwner, command.actor) && hasActiveRole(membership, 'mission_owner');
}

/** OK: the MissionOwner, or the Coordinator under its lease. */
export function checkOwnerOrCoordinator(command: Command, view: View, now: string): Refusal | undefined {
  if (isOwner(command, view)) return undefined;
  if (command.actor.type === 'agent') return checkCoordinator(command, view, now);
  return refuse('AUTH_FORBIDDEN', 'only the MissionOwner or the Coordinator may do this');
}

/** W: the current owner of the WorkItem, under the current epoch and a live ownership lease. */
export function checkWorkOwner(
  command: Command,
  item: WorkItemAggregate,
  ownershipEpoch: number,
  view: View,
  now: string,
): Refusal | undefined {
  const { owner, state } = item.workItem;
  const stale = refuse('WORK_STALE_OWNERSHIP', 'the Ownership Epoch is not the current one');
  if (ownershipEpoch < item.details.ownershipEpoch) return stale;
  // Nobody owns it, so no epoch could be right: what is wrong is the state (MWP-WRK-003b).
  if (!owner) return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${state}`);
  if (ownershipEpoch !== item.details.ownershipEpoch) return stale;
  if (command.actor.type !== 'agent' || owner.agentId !== command.actor.id) {
    return refuse('AUTH_FORBIDDEN', 'only the owner of the WorkItem may do this');
  }
  // Ended work has no lease either, but that it ended says more (MWP-WRK-003a).
  if (!isUnfinished(item)) return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${state}`);
  if (!isLive(ownershipLease(item, view), now)) return refuse('WORK_LEASE_EXPIRED', 'the ownership lease has ended');
  return undefined;
}

/** L: the WorkItem's current Execution Lease, under the session that it was issued to. */
export function checkExecutionLease(
  command: Command,
  item: WorkItemAggregate,
  executionLeaseId: string,
  view: View,
  now: string,
): Refusal | undefined {
  const lease = executionLease(item, view);
  if (!lease || lease.leaseId !== executionLeaseId) {
    return refuse('WORK_LEASE_EXPIRED', 'this is not the current Execution Lease');
  }
  if (lease.sessionEpoch !== command.sessionEpoch) {
    return refuse('AUTH_STALE_SESSION', 'the Execution Lease belongs to another session');
  }
  if (!isLive(lease, now)) return refuse('WORK_LEASE_EXPIRED', 'the Execution Lease has ended');
  return undefined;
}

export function ownershipLease(item: WorkItemAggregate, view: View): LeaseAggregate | undefined {
  const id = item.workItem.owner?.ownershipLeaseId;
  return view.list(workLeasesRead(item.workItem.workItemId)).find(({ leaseId }) => leaseId === id);
}

/** Owned by somebody who can still act. Queued work whose start-by deadline was missed is not (MWP-WRK-019a). */
export function hasLiveOwner(item: WorkItemAggregate, view: View, now: string): boolean {
  const lease = ownershipLease(item, view);
  if (!item.workItem.owner || !isLive(lease, now)) return false;
  return item.workItem.state !== 'queued' || !startByPassed(lease, now);
}

export function startByPassed({ startBy }: LeaseAggregate, now: string): boolean {
  return startBy !== undefined && compareTimestamps(now, startBy) >= 0;
}

export function executionLease(item: WorkItemAggregate, view: View): LeaseAggregate | undefined {
  const id = item.details.executionLeaseId;
  return view.list(workLeasesRead(item.workItem.workItemId)).find(({ leaseId }) => leaseId === id);
}

/** M */
export function checkMissionActive(command: Command, view: View): Refusal | undefined {
  const { mission } = missionOf(view, groupOf(command));
  if (mission.state === 'active') return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the Mission is ${mission.state}`);
}

export function checkAwaitingApproval(command: Command, view: View): Refusal | undefined {
  const { mission } = missionOf(view, groupOf(command));
  if (mission.state === 'awaiting_approval') return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the Mission is ${mission.state}`);
}

/** NT */
export function checkMissionNotTerminal(command: Command, view: View): Refusal | undefined {
  const { mission } = missionOf(view, groupOf(command));
  if (mission.state === 'active' || mission.state === 'awaiting_approval') return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the Mission is ${mission.state}`);
}

/** T */
export function checkMissionTerminal(command: Command, view: View): Refusal | undefined {
  if (checkMissionNotTerminal(command, view)) return undefined;
  const { mission } = missionOf(view, groupOf(command));
  return refuse('INVALID_STATE_TRANSITION', `the Mission is ${mission.state}`);
}

export const NO_SUCH_ITEM = 'no such WorkItem in this Group';

/** The WorkItem, if it is in this Group; one of another Group is as unknown as one that does not exist. */
export function workItemIn(view: View, workItemId: string, groupId: string): WorkItemAggregate | Refusal {
  const item = view.get('work_item', workItemId);
  if (item && item.workItem.groupId === groupId) return item;
  return refuse('INVALID_COMMAND', NO_SUCH_ITEM);
}
