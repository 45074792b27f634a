// work.accept_result: the Coordinator reviewed the submission and takes it as done (commands.md 1.28, WT-12).
import type { z } from 'zod';
import type { Evidence } from '../../protocol/documents/evidence.ts';
import { id } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { checkIndependent, checkReviewed, type Statement } from '../acceptance-criteria.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import { endReads, endReleases } from '../allocation.ts';
import type { Command, CommandKind } from '../decider.ts';
import { checkEvidence, evidenceDocuments, evidenceList, evidenceMembers, evidenceReads } from '../evidence.ts';
import { one } from '../reads.ts';
import {
  checkCoordinator,
  checkMissionActive,
  coordinatorReads,
  groupOf,
  workItemIn,
  workLeasesRead,
  workReads,
} from '../roles.ts';
import type { View } from '../view.ts';
import { closedLeases, workEvent, workItemRevision } from '../work-items.ts';
import { payload } from './shapes.ts';

const schema = payload({ workItemId: id, evidence: evidenceList });

export type WorkAcceptResultPayload = z.infer<typeof schema>;

export const workAcceptResult: CommandKind<WorkAcceptResultPayload> = {
  kind: 'work.accept_result',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command, payload }, view) => workItemRevision(command, payload.workItemId, view),

  documents: ({ evidence }) => evidenceDocuments(evidence),

  reads: ({ command, payload }) => [
    ...coordinatorReads(command),
    ...workReads(payload.workItemId),
    ...evidenceReads(groupOf(command), payload.workItemId, payload.evidence),
  ],
  moreReads: ({ payload }, view) => [
    ...endReads(view, payload.workItemId),
    ...submittedEvidence(view.get('work_item', payload.workItemId)).map((evidenceId) => one('evidence', evidenceId)),
  ],

  decide({ command, payload }, view, context) {
    const { now } = context;
    const authority = checkCoordinator(command, view, now) ?? checkMissionActive(command, view);
    if (authority) return authority;
    const item = workItemIn(view, payload.workItemId, groupOf(command));
    if (isRefusal(item)) return item;
    const evidence = payload.evidence as unknown as Evidence[];
    const refusal =
      checkSubmittedState(item) ??
      checkEvidence(evidence, item, view, context) ??
      checkPassed(evidence) ??
      checkReview(command, item, evidence, view);
    if (refusal) return refusal;
    const { workItemId } = item.workItem;
    return {
      events: [
        {
          kind: 'work.result.accepted',
          ...workEvent(item),
          payload: {
            workItemId,
            ...evidenceMembers(payload.evidence, context),
            closedLeases: closedLeases(view.list(workLeasesRead(workItemId)), 'released', 'verified', now),
            releases: endReleases(view, item, context),
          },
        },
      ],
    };
  },
};

function submittedEvidence(item: WorkItemAggregate | undefined): string[] {
  return item?.workItem.submission?.evidenceIds ?? [];
}

function checkSubmittedState({ workItem }: WorkItemAggregate): Refusal | undefined {
  if (workItem.state === 'submitted') return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the WorkItem is ${workItem.state}`);
}

function checkPassed(evidence: readonly Evidence[]): Refusal | undefined {
  if (evidence.every(({ result }) => result === 'passed')) return undefined;
  return refuse('INVALID_COMMAND', 'a result is accepted on passed Evidence only');
}

function checkReview(command: Command, item: WorkItemAggregate, evidence: readonly Evidence[], view: View) {
  const { owner, contract } = item.workItem;
  if (!owner) throw new Error('a submitted WorkItem has an owner');
  const worker = { type: 'agent', id: owner.agentId } as const;
  const submitted = submittedEvidence(item).map((evidenceId) => view.mustGet('evidence', evidenceId));
  const statements: Statement[] = [...submitted, ...evidence];
  return (
    checkIndependent(statements, worker, command.actor) ??
    checkReviewed(statements, contract.acceptanceCriteria, worker)
  );
}
