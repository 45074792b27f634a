// work.proposed: a Work Proposal is open; the Mission has one more revision (commands.md (c)).
import type { WorkProposalAggregate } from '../aggregates.ts';
import { contractTextPaths } from '../contract-texts.ts';
import type { EventKind } from '../decider.ts';
import { bumpMission } from '../work-items.ts';

interface WorkProposed {
  proposal: WorkProposalAggregate;
}

export const workProposed: EventKind<WorkProposed> = {
  kind: 'work.proposed',
  erasable: contractTextPaths('proposal.contract'),

  evolve(view, { payload: { proposal } }) {
    view.set('work_proposal', proposal.proposalId, proposal.groupId, proposal);
    bumpMission(view, proposal.missionId);
  },
};
