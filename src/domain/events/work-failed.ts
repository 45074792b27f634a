// work.failed: the WorkItem is given up. By a Command it keeps its owner and epoch until a new offer fences them; with its
// Mission (WT-18) it is fenced at once and the Mission's revision is not its business.
import type { Committed, LeaseAggregate } from '../aggregates.ts';
import type { EventKind } from '../decider.ts';
import { EVIDENCE_TEXTS, setEvidence, type FoldedEvidence } from '../evidence.ts';
import { bumpMissionOf, changeWorkItem, ended, fenced, setLeases } from '../work-items.ts';

interface WorkFailed {
  workItemId: string;
  reason: Committed;
  evidence?: FoldedEvidence[];
  evidenceHashes?: string[];
  closedLeases: LeaseAggregate[];
  /** Of its own; false where the failure of the Mission brought it about. */
  missionRevisionBump?: boolean;
  fenced?: boolean;
}

export const workFailed: EventKind<WorkFailed> = {
  kind: 'work.failed',
  erasable: ['reason', ...EVIDENCE_TEXTS],

  evolve(view, event) {
    const { workItemId, reason, evidence, evidenceHashes, closedLeases, missionRevisionBump } = event.payload;
    setEvidence(view, evidence ?? [], evidenceHashes ?? []);
    setLeases(view, closedLeases);
    changeWorkItem(view, event, workItemId, (item) =>
      ended(event.payload.fenced ? fenced(item) : item, 'failed', reason),
    );
    if (missionRevisionBump !== false) bumpMissionOf(view, workItemId);
  },
};
