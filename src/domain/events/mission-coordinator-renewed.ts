// mission.coordinator.renewed: the same Coordinator lease with a later end, bound to the session that renewed it.
import type { LeaseAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { setLeases } from '../work-items.ts';

interface MissionCoordinatorRenewed {
  lease: LeaseAggregate;
}

export const missionCoordinatorRenewed: EventKind<MissionCoordinatorRenewed> = {
  kind: 'mission.coordinator.renewed',
  erasable: [],

  evolve(view, { payload }) {
    setLeases(view, [payload.lease]);
  },
};
