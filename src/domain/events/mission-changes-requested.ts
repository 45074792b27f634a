// mission.changes_requested: the same Mission is at work again, one revision on; earlier submissions stay (MWP-MSN-008c).
import { APPROVAL_TEXTS, setApproval, type FoldedApproval } from '../approvals.ts';
import type { EventKind } from '../decider.ts';
import { changeMission } from '../missions.ts';

interface MissionChangesRequested {
  missionId: string;
  newRevision: number;
  approval: FoldedApproval;
  approvalHash: string;
}

export const missionChangesRequested: EventKind<MissionChangesRequested> = {
  kind: 'mission.changes_requested',
  erasable: ['feedback', ...APPROVAL_TEXTS],

  evolve(view, { payload: { missionId, newRevision, approval, approvalHash } }) {
    setApproval(view, approval, approvalHash);
    changeMission(view, missionId, ({ mission, details }) => {
      const { submission: _answered, ...rest } = details;
      return { mission: { ...mission, state: 'active', revision: newRevision }, details: rest };
    });
  },
};
