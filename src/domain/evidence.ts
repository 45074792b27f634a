// Evidence that a Command brings: signed statements about one WorkItem, by members, against its criteria (MWP-WRK-026).
import { z } from 'zod';
import type { JsonObject } from '../protocol/documents/json-value.ts';
import type { Evidence } from '../protocol/documents/evidence.ts';
import { jsonObject } from '../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { membershipKey, type ArtifactAggregate, type Committed, type WorkItemAggregate } from './aggregates.ts';
import { claimedId, claimedPrincipal } from './claimed-ids.ts';
import type { DecisionContext, EmbeddedDocument } from './decider.ts';
import { list, one, type ListRead, type Read } from './reads.ts';
import { hasRight, knowsService, type Policies } from './rights.ts';
import type { View } from './view.ts';

/** Each is verified, so one Command brings no more of them; a Worker with more results sums them up. */
const EVIDENCE_MAXIMUM = 50;

export const evidenceList = z.array(jsonObject).min(1).max(EVIDENCE_MAXIMUM);

/** The paths of free text in a list of Evidence that stands in a payload as `evidence`. */
export const EVIDENCE_TEXTS = ['evidence.*.method', 'evidence.*.details'];

export function evidenceDocuments(evidence: readonly JsonObject[]): EmbeddedDocument[] {
  return evidence.map((value, position) => ({ path: `evidence.${position}`, kind: 'evidence', value }));
}

/** For the payload of an Event: the documents as received, and their signing hashes beside them. */
export function evidenceMembers(evidence: readonly JsonObject[], { documentHashes }: DecisionContext) {
  return { evidence, evidenceHashes: evidence.map((_, position) => documentHashes.get(`evidence.${position}`) ?? '') };
}

export function artifactsRead(workItemId: string): ListRead & { kind: 'artifact' } {
  return list('artifact', { parent: workItemId }) as ListRead & { kind: 'artifact' };
}

/** Asked before the documents are known to be well-formed. */
export function evidenceReads(groupId: string, workItemId: string, evidence: readonly JsonObject[]): Read[] {
  return [
    artifactsRead(workItemId),
    ...evidence.flatMap(({ evidenceId, generatedBy }) => {
      const generator = claimedPrincipal(generatedBy);
      return [
        one('evidence', claimedId(evidenceId)),
        ...(generator ? [one('membership', membershipKey(groupId, generator))] : []),
      ];
    }),
  ];
}

/** Which Artifacts the Evidence may speak of: those published for the item, and by hash also what its contract gave. */
export function checkEvidence(
  evidence: readonly Evidence[],
  item: WorkItemAggregate,
  view: View,
  policies: Policies,
): Refusal | undefined {
  const artifacts = view.list(artifactsRead(item.workItem.workItemId));
  if (new Set(evidence.map(({ evidenceId }) => evidenceId)).size < evidence.length) {
    return refuse('INVALID_COMMAND', 'two pieces of Evidence have the same id');
  }
  for (const piece of evidence) {
    const refusal =
      checkScope(piece, item, artifacts) ??
      checkCriteria(piece, item) ??
      checkGenerator(piece, item.workItem.groupId, view, policies) ??
      checkUnused(piece.evidenceId, view);
    if (refusal) return { ...refusal, details: { evidenceId: piece.evidenceId } };
  }
  return undefined;
}

function checkScope(piece: Evidence, { workItem }: WorkItemAggregate, artifacts: readonly ArtifactAggregate[]) {
  const { missionId, groupId, workItemId, subject } = piece;
  if (missionId !== workItem.missionId || groupId !== workItem.groupId || workItemId !== workItem.workItemId) {
    return refuse('INVALID_COMMAND', 'Evidence is about another WorkItem');
  }
  const about =
    subject.type === 'work_item'
      ? subject.id === workItemId
      : artifacts.some(({ artifactId, contentHash }) => subject.id === artifactId || subject.id === contentHash);
  if (!about || subject.type === 'mission') {
    return refuse('INVALID_COMMAND', 'the subject of Evidence is not within the WorkItem');
  }
  const known = new Set([...artifacts.map(({ contentHash }) => contentHash), ...workItem.contract.inputArtifacts]);
  if (piece.artifactHashes.every((hash) => known.has(hash))) return undefined;
  return refuse('INVALID_COMMAND', 'Evidence names an Artifact that was not published for the WorkItem');
}

function checkCriteria({ criterionIds }: Evidence, { workItem }: WorkItemAggregate): Refusal | undefined {
  const known = new Set(workItem.contract.acceptanceCriteria.map(({ criterionId }) => criterionId));
  if (criterionIds.every((criterionId) => known.has(criterionId))) return undefined;
  return refuse('INVALID_COMMAND', 'Evidence names a criterion that the contract does not have');
}

/** A member, or a service that the policy knows, such as one that runs tests. */
function checkGenerator(piece: Evidence, groupId: string, view: View, policies: Policies): Refusal | undefined {
  const { generatedBy: generator, createdAt } = piece;
  const allowed =
    generator.type === 'service'
      ? hasRight(policies, createdAt, (policy) => knowsService(policy, generator.id))
      : view.get('membership', membershipKey(groupId, generator))?.state === 'active';
  return allowed ? undefined : refuse('AUTH_FORBIDDEN', 'Evidence is not by a member of this Group');
}

function checkUnused(evidenceId: string, view: View): Refusal | undefined {
  if (!view.get('evidence', evidenceId)) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the Evidence id is already used');
}

/** Evidence as an Event holds it: its texts are commitments when it is folded. */
export type FoldedEvidence = Omit<Evidence, 'method' | 'details' | 'signature'> & { method: Committed };

export function setEvidence(view: View, evidence: readonly FoldedEvidence[], hashes: readonly string[]): void {
  evidence.forEach((piece, position) => {
    const { evidenceId, missionId, groupId, workItemId, type, subject, criterionIds, result } = piece;
    const { artifactHashes, generatedBy, createdAt } = piece;
    const about = { evidenceId, missionId, groupId, workItemId, type, subject, criterionIds, result };
    const signingHash = hashes[position] ?? '';
    view.set('evidence', evidenceId, groupId, { ...about, artifactHashes, generatedBy, createdAt, signingHash });
  });
}
