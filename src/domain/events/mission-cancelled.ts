// mission.cancelled: the Mission is given up. Its unfinished WorkItems follow with a work.cancelled each.
import type { Committed, LeaseAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { endMission } from '../missions.ts';

interface MissionCancelled {
  missionId: string;
  reason: Committed;
  coordinatorLease?: LeaseAggregate;
}

export const missionCancelled: EventKind<MissionCancelled> = {
  kind: 'mission.cancelled',
  erasable: ['reason'],

  evolve(view, event) {
    const { missionId, reason, coordinatorLease } = event.payload;
    endMission(view, event, {
      missionId,
      state: 'cancelled',
      ...(coordinatorLease && { coordinatorLease }),
      details: { endReason: reason },
    });
  },
};
