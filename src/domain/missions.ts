// What several mission Commands read, and what their Events do to a Mission and the Coordinator lease.
import { closeAccount } from './accounts.ts';
import {
  missionAccountId,
  type Committed,
  type LeaseAggregate,
  type MissionAggregate,
  type MissionDetails,
  type MissionState,
} from './aggregates.ts';
import type { Command, FoldableEvent } from './decider.ts';
import { closeLease } from './leases.ts';
import { one, type Read } from './reads.ts';
import { groupOf, missionRead } from './roles.ts';
import type { View } from './view.ts';

/** For kinds whose revision is the Mission's (commands.md (c)). */
export function missionRevision(command: Command, view: View): number | undefined {
  return view.list(missionRead(groupOf(command)))[0]?.mission.revision;
}

/** What ends with a Mission: its Coordinator's lease and its account. Named by the Mission, so a second round. */
export function missionEndReads(command: Command, view: View): Read[] {
  return view
    .list(missionRead(groupOf(command)))
    .flatMap(({ mission }) => [
      one('lease', mission.coordinator.leaseId),
      one('budget_account', missionAccountId(mission.missionId)),
    ]);
}

/** The Coordinator lease, closed, for the payload of the Event that ends the Mission; nothing if it was closed before. */
export function closedCoordinatorLease(
  { mission }: MissionAggregate,
  view: View,
  closure: { state: 'released' | 'revoked'; reason: string; now: string },
): { coordinatorLease?: LeaseAggregate } {
  const lease = view.mustGet('lease', mission.coordinator.leaseId);
  if (lease.state !== 'active') return {};
  return { coordinatorLease: closeLease(lease, closure.state, closure.reason, closure.now) };
}

/** The envelope members of every Event about a Mission. */
export function missionEvent({ mission }: MissionAggregate, aggregateRevision = mission.revision) {
  return { groupId: mission.groupId, aggregateRevision };
}

/** A limited fold skips a Mission whose creation it never saw. */
export function changeMission(
  view: View,
  missionId: string,
  change: (aggregate: MissionAggregate) => MissionAggregate,
): void {
  const aggregate = view.toChange('mission', missionId);
  if (aggregate) view.set('mission', missionId, aggregate.mission.groupId, change(aggregate));
}

export interface MissionEnd {
  missionId: string;
  state: Extract<MissionState, 'approved' | 'failed' | 'cancelled'>;
  coordinatorLease?: LeaseAggregate;
  details?: Partial<MissionDetails<Committed>>;
}

/** A final state (MWP-MSN-002a). The account keeps its limit for late metering, but hands nothing out any more. */
export function endMission(view: View, { occurredAt }: Pick<FoldableEvent, 'occurredAt'>, end: MissionEnd): void {
  changeMission(view, end.missionId, ({ mission, details }) => ({
    mission: { ...mission, state: end.state },
    details: { ...details, ...end.details, endedAt: occurredAt },
  }));
  const { coordinatorLease } = end;
  if (coordinatorLease) view.set('lease', coordinatorLease.leaseId, coordinatorLease.groupId, coordinatorLease);
  closeAccount(view, missionAccountId(end.missionId), occurredAt);
}
