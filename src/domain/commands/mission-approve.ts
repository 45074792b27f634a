// mission.approve: the MissionOwner's signed Approval completes the Mission (commands.md 1.7, MT-6). Root Missions only:
// a child's approval also verifies its parent WorkItem and comes with mission.create_child.
import type { z } from 'zod';
import type { Approval } from '../../protocol/documents/approval.ts';
import { jsonObject } from '../../protocol/documents/shapes.ts';
import { checkAnswer, checkApprover } from '../approvals.ts';
import type { CommandKind } from '../decider.ts';
import { closedCoordinatorLease, missionEndReads, missionEvent, missionRevision } from '../missions.ts';
import { one } from '../reads.ts';
import { checkAwaitingApproval, groupOf, missionOf } from '../roles.ts';
import { embeddedId, payload } from './shapes.ts';

const schema = payload({ approval: jsonObject });

export type MissionApprovePayload = z.infer<typeof schema>;

export const missionApprove: CommandKind<MissionApprovePayload> = {
  kind: 'mission.approve',
  payload: schema,
  actors: ['human'],
  group: 'existing',

  documents: ({ approval }) => [{ path: 'approval', kind: 'approval', value: approval }],
  revision: ({ command }, view) => missionRevision(command, view),
  reads: ({ payload }) => [one('approval', embeddedId(payload.approval, 'approvalId'))],
  moreReads: ({ command }, view) => missionEndReads(command, view),

  decide({ command, payload }, view, { now, documentHashes }) {
    const approval = payload.approval as Approval;
    const refusal =
      checkApprover(command, approval, view) ??
      checkAwaitingApproval(command, view) ??
      checkAnswer(command, approval, 'approved', view);
    if (refusal) return refusal;
    const aggregate = missionOf(view, groupOf(command));
    const { missionId, groupId } = aggregate.mission;
    const { approvalId, missionRevision, artifactHashes, acceptancePolicyVersion } = approval;
    const approvalHash = documentHashes.get('approval');
    return {
      events: [
        {
          kind: 'mission.approved',
          ...missionEvent(aggregate),
          payload: {
            missionId,
            approval,
            approvalHash,
            ...closedCoordinatorLease(aggregate, view, { state: 'released', reason: 'mission_approved', now }),
          },
        },
      ],
      policyLog: [
        {
          groupId,
          decision: 'mission.approved',
          details: { missionId, missionRevision, approvalId, approvalHash, artifactHashes, acceptancePolicyVersion },
          draft: 0,
        },
      ],
    };
  },
};
