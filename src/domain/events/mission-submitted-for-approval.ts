// mission.submitted_for_approval: one revision and one Artifact set wait for the MissionOwner.
import type { EventKind } from '../decider.ts';
import { changeMission } from '../missions.ts';

interface MissionSubmittedForApproval {
  missionId: string;
  missionRevision: number;
  artifactHashes: string[];
}

export const missionSubmittedForApproval: EventKind<MissionSubmittedForApproval> = {
  kind: 'mission.submitted_for_approval',
  erasable: [],

  evolve(view, { payload: { missionId, missionRevision, artifactHashes }, occurredAt }) {
    const submission = { missionRevision, artifactHashes, submittedAt: occurredAt };
    changeMission(view, missionId, ({ mission, details }) => ({
      mission: { ...mission, state: 'awaiting_approval' },
      details: { ...details, submission, submissions: [...details.submissions, submission] },
    }));
  },
};
