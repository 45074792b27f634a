// work.submitted: the WorkItem waits for review with this submission; execution is over, ownership runs on.
import type { LeaseAggregate, WorkItemDocument } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { EVIDENCE_TEXTS, setEvidence, type FoldedEvidence } from '../evidence.ts';
import { changeWorkItem, setLeases } from '../work-items.ts';

interface WorkSubmitted {
  workItemId: string;
  artifactIds: string[];
  evidence: FoldedEvidence[];
  evidenceHashes: string[];
  submission: NonNullable<WorkItemDocument<unknown>['submission']>;
  closedLeases: LeaseAggregate[];
}

export const workSubmitted: EventKind<WorkSubmitted> = {
  kind: 'work.submitted',
  erasable: EVIDENCE_TEXTS,

  evolve(view, event) {
    const { workItemId, artifactIds, evidence, evidenceHashes, submission, closedLeases } = event.payload;
    setEvidence(view, evidence, evidenceHashes);
    setLeases(view, closedLeases);
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => {
      const { executionLeaseId: _ended, ...others } = details;
      return { workItem: { ...workItem, state: 'submitted', submission }, details: { ...others, artifactIds } };
    });
  },
};
