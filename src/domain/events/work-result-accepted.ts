// work.result.accepted: the WorkItem is verified, for good; its account is closed and the Mission has one more revision.
import { workItemAccountId, type LeaseAggregate } from '../aggregates.ts';
import { applyReleases, closeAccount } from '../accounts.ts';
import type { Release } from '../allocation.ts';
import type { EventKind } from '../decider.ts';
import { EVIDENCE_TEXTS, setEvidence, type FoldedEvidence } from '../evidence.ts';
import { bumpMissionOf, changeWorkItem, setLeases } from '../work-items.ts';

interface WorkResultAccepted {
  workItemId: string;
  evidence: FoldedEvidence[];
  evidenceHashes: string[];
  closedLeases: LeaseAggregate[];
  releases: Release[];
}

export const workResultAccepted: EventKind<WorkResultAccepted> = {
  kind: 'work.result.accepted',
  erasable: EVIDENCE_TEXTS,

  evolve(view, event) {
    const { workItemId, evidence, evidenceHashes, closedLeases, releases } = event.payload;
    setEvidence(view, evidence, evidenceHashes);
    setLeases(view, closedLeases);
    changeWorkItem(view, event, workItemId, ({ workItem, details }) => ({
      workItem: { ...workItem, state: 'verified' },
      details,
    }));
    closeAccount(view, workItemAccountId(workItemId), event.occurredAt);
    applyReleases(view, releases);
    bumpMissionOf(view, workItemId);
  },
};
