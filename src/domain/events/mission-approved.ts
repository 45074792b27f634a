// mission.approved: the Mission is complete with exactly these Artifacts (MWP-FND-013e); its Coordinator is done.
import type { LeaseAggregate } from '../aggregates.ts';
import { APPROVAL_TEXTS, setApproval, type FoldedApproval } from '../approvals.ts';
import type { EventKind } from '../decider.ts';
import { endMission } from '../missions.ts';

interface MissionApproved {
  missionId: string;
  approval: FoldedApproval;
  approvalHash: string;
  coordinatorLease?: LeaseAggregate;
}

export const missionApproved: EventKind<MissionApproved> = {
  kind: 'mission.approved',
  erasable: APPROVAL_TEXTS,

  evolve(view, event) {
    const { missionId, approval, approvalHash, coordinatorLease } = event.payload;
    setApproval(view, approval, approvalHash);
    endMission(view, event, {
      missionId,
      state: 'approved',
      ...(coordinatorLease && { coordinatorLease }),
      details: { approvedArtifactHashes: [...approval.artifactHashes].sort(), approvalId: approval.approvalId },
    });
  },
};
