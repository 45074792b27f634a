// work.submit: the executing owner claims completion, with Artifacts and Evidence for every criterion (commands.md 1.27,
// WT-11). Ownership runs on; only a review decides.
import { z } from 'zod';
import type { Evidence } from '../../protocol/documents/evidence.ts';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { checkSubmitted } from '../acceptance-criteria.ts';
import type { ArtifactAggregate } from '../aggregates.ts';
import type { CommandKind } from '../decider.ts';
import {
  artifactsRead,
  checkEvidence,
  evidenceDocuments,
  evidenceList,
  evidenceMembers,
  evidenceReads,
} from '../evidence.ts';
import { checkExecuting, releasedExecution } from '../execution.ts';
import { checkPins } from '../pinned-cards.ts';
import { groupOf, workItemIn, workReads } from '../roles.ts';
import type { View } from '../view.ts';
import { workEvent, workItemRevision } from '../work-items.ts';
import { epoch, payload } from './shapes.ts';

const ARTIFACTS_MAXIMUM = 1_000;

const schema = payload({
  workItemId: id,
  ownershipEpoch: epoch,
  executionLeaseId: id,
  artifactIds: z.array(id).min(1).max(ARTIFACTS_MAXIMUM),
  evidence: evidenceList,
});

export type WorkSubmitPayload = z.infer<typeof schema>;

export const workSubmit: CommandKind<WorkSubmitPayload> = {
  kind: 'work.submit',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  documents: ({ evidence }) => evidenceDocuments(evidence),

  reads: ({ command, payload }) => [
    ...workReads(payload.workItemId),
    ...evidenceReads(groupOf(command), payload.workItemId, payload.evidence),
  ],

  decide({ command, payload }, view, context) {
    const { now } = context;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const refusal = checkExecuting(command, item, payload, view, now) ?? checkPins(item, view);
    if (refusal) return refusal;
    const { workItemId, contract } = item.workItem;
    const artifacts = submittedArtifacts(payload, view);
    if (isRefusal(artifacts)) return artifacts;
    const evidence = payload.evidence as unknown as Evidence[];
    const insufficient =
      checkEvidence(evidence, item, view, context) ?? checkSubmitted(evidence, contract.acceptanceCriteria);
    if (insufficient) return insufficient;
    const submission = {
      artifactHashes: [...new Set(artifacts.map(({ contentHash }) => contentHash))].sort(),
      evidenceIds: evidence.map(({ evidenceId }) => evidenceId),
      submittedAt: now,
    };
    return {
      events: [
        {
          kind: 'work.submitted',
          ...workEvent(item),
          payload: {
            workItemId,
            artifactIds: artifacts.map(({ artifactId }) => artifactId),
            ...evidenceMembers(payload.evidence, context),
            submission,
            closedLeases: [releasedExecution(item, view, 'submitted', now)],
          },
        },
      ],
    };
  },
};

function submittedArtifacts({ workItemId, artifactIds }: WorkSubmitPayload, view: View): ArtifactAggregate[] | Refusal {
  const published = new Map(view.list(artifactsRead(workItemId)).map((artifact) => [artifact.artifactId, artifact]));
  const found: ArtifactAggregate[] = [];
  for (const artifactId of new Set(artifactIds)) {
    const artifact = published.get(artifactId);
    if (!artifact) return refuse('INVALID_COMMAND', 'an Artifact was not published for the WorkItem');
    found.push(artifact);
  }
  return found;
}
