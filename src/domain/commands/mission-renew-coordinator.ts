// mission.renew_coordinator: the Coordinator keeps its lease before it lapses (commands.md 1.5).
import type { z } from 'zod';
import { refuse } from '../../protocol/refusals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import type { CommandKind } from '../decider.ts';
import { cappedEnd, renewLease } from '../leases.ts';
import { missionEvent, missionRevision } from '../missions.ts';
import {
  checkCoordinator,
  checkMissionNotTerminal,
  coordinatorReads,
  groupOf,
  missionOf,
  ownLeasesRead,
} from '../roles.ts';
import { optional, payload, seconds } from './shapes.ts';

const DEFAULT_LEASE_SECONDS = 300;

const schema = payload({ leaseSeconds: optional(seconds) });

export type MissionRenewCoordinatorPayload = z.infer<typeof schema>;

export const missionRenewCoordinator: CommandKind<MissionRenewCoordinatorPayload> = {
  kind: 'mission.renew_coordinator',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command }, view) => missionRevision(command, view),
  reads: ({ command }) => coordinatorReads(command),

  decide({ command, payload }, view, { now, policy }) {
    const refusal = checkCoordinator(command, view, now) ?? checkMissionNotTerminal(command, view);
    if (refusal) return refusal;
    const aggregate = missionOf(view, groupOf(command));
    const { missionId, coordinator } = aggregate.mission;
    const lease = view.list(ownLeasesRead(command)).find(({ leaseId }) => leaseId === coordinator.leaseId);
    if (!lease || command.sessionEpoch === undefined) throw new Error('checked before');
    // Not capped by the deadline (design section 4): a late Mission still needs somebody to wind it up.
    const asked = payload.leaseSeconds ?? DEFAULT_LEASE_SECONDS;
    const expiresAt = cappedEnd(now, Math.min(asked, policy.leases.coordinatorMaximum));
    if (compareTimestamps(expiresAt, lease.expiresAt) <= 0) {
      return refuse('INVALID_COMMAND', 'the renewed lease would not end later');
    }
    return {
      events: [
        {
          kind: 'mission.coordinator.renewed',
          ...missionEvent(aggregate),
          payload: {
            missionId,
            coordinatorEpoch: coordinator.coordinatorEpoch,
            leaseExpiresAt: expiresAt,
            lease: renewLease(lease, expiresAt, command.sessionEpoch, now),
          },
        },
      ],
    };
  },
};
