// work.authorize: whoever may author work makes a WorkItem of a complete contract, perhaps of a proposal, with its own
// Conversation and its budget set aside (commands.md 1.19, WT-2).
import { z } from 'zod';
import { id, jsonObject } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { amountsOf, parentAccountOf, reserve, reserveReads } from '../allocation.ts';
import type { MissionAggregate, WorkContract } from '../aggregates.ts';
import { checkAuthor, emergencyOverride, overrideEntry } from '../authorship.ts';
import { checkCurrency } from '../budget.ts';
import { contractCommitments } from '../contract-texts.ts';
import type { CommandKind, DecisionContext, Request } from '../decider.ts';
import { missionRevision } from '../missions.ts';
import { checkProposal } from '../proposals.ts';
import { checkInputs, contentReads, lineageReads } from '../provenance.ts';
import { one, type Read } from '../reads.ts';
import { checkMissionActive, coordinatorReads, groupOf, missionOf, missionRead } from '../roles.ts';
import type { View } from '../view.ts';
import {
  checkContract,
  checkDependencies,
  contractReferences,
  dependencyReads,
  readContract,
} from '../work-contracts.ts';
import { isUnfinished, WORK_ITEMS_MAXIMUM } from '../work-items.ts';
import { authorizedEvent } from '../authorized-work.ts';
import { optional, payload } from './shapes.ts';

const schema = payload({
  workItemId: id,
  contract: jsonObject,
  dependencyIds: optional(z.array(id)),
  proposalId: optional(id),
  parentWorkItemId: optional(id),
  delegationGrantId: optional(id),
  exclusive: optional(z.boolean()),
  replacesWorkItemId: optional(id),
  emergencyOverride: optional(emergencyOverride),
});

export type WorkAuthorizePayload = z.infer<typeof schema>;

export const workAuthorize: CommandKind<WorkAuthorizePayload> = {
  kind: 'work.authorize',
  payload: schema,
  actors: ['agent', 'human'],
  group: 'existing',
  revision: ({ command }, view) => missionRevision(command, view),

  reads({ command, payload }) {
    const items = [payload.workItemId, payload.parentWorkItemId, payload.replacesWorkItemId];
    return [
      ...coordinatorReads(command),
      ...items.filter((item) => item !== undefined).map((item) => one('work_item', item)),
      ...(payload.proposalId === undefined ? [] : [one('work_proposal', payload.proposalId)]),
      ...dependencyReads(payload.contract),
      ...contractReferences(payload.contract, 'inputArtifacts').flatMap((hash) => contentReads(groupOf(command), hash)),
    ];
  },

  moreReads({ command, payload }, view): Read[] {
    const mission = view.list(missionRead(groupOf(command)))[0]?.mission;
    const contract = readContract(payload.contract);
    if (!mission || isRefusal(contract)) return [];
    return [
      ...reserveReads(view, parentAccountOf(mission.missionId, payload.parentWorkItemId), amountsOf(contract.budget)),
      ...lineageReads(view, mission.groupId, contractReferences(payload.contract, 'inputArtifacts')),
    ];
  },

  /** To compare the contract with the proposed one. */
  texts({ payload: { proposalId } }, view) {
    const proposal = proposalId === undefined ? undefined : view.get('work_proposal', proposalId);
    return proposal ? contractCommitments(proposal.contract) : [];
  },

  /** (f): WorkItem parents are counted from the Mission down. */
  limits({ command, payload }, view, { policy }) {
    if ((missionOf(view, groupOf(command)).details.workItemCount ?? 0) >= WORK_ITEMS_MAXIMUM) {
      return refuse('RATE_LIMITED', `a Mission has at most ${WORK_ITEMS_MAXIMUM} WorkItems`, {
        details: { limit: 'work_items' },
      });
    }
    const parent = payload.parentWorkItemId === undefined ? undefined : view.get('work_item', payload.parentWorkItemId);
    if (!parent || parent.workItem.groupId !== command.groupId) return undefined;
    if (parent.details.delegationDepth + 1 <= policy.limits.delegationDepth) return undefined;
    return refuse('RATE_LIMITED', 'the limit of delegation depth is reached', {
      details: { limit: 'delegation_depth' },
    });
  },

  decide(request, view, context) {
    const { command, payload } = request;
    const aggregate = missionOf(view, groupOf(command));
    const early =
      checkAuthor(command, payload, view, context.now) ??
      checkMissionActive(command, view) ??
      checkUnused(payload.workItemId, view);
    if (early) return early;
    const contract = readContract(payload.contract);
    if (isRefusal(contract)) return contract;
    const refusal = check(request, contract, aggregate, view, context);
    if (refusal) return refusal;
    const account = view.mustGet('budget_account', accountOf(request, aggregate));
    const releases = reserve(view, account, amountsOf(contract.budget), context);
    if (isRefusal(releases)) return releases;
    return {
      events: [authorizedEvent(request, contract, aggregate, releases, view, context)],
      ...overrideEntry(command, payload, payload.workItemId, 0),
    };
  },
};

function accountOf({ payload }: Request<WorkAuthorizePayload>, { mission }: MissionAggregate): string {
  return parentAccountOf(mission.missionId, payload.parentWorkItemId);
}

function check(
  request: Request<WorkAuthorizePayload>,
  contract: WorkContract<string>,
  aggregate: MissionAggregate,
  view: View,
  context: DecisionContext,
): Refusal | undefined {
  const { payload } = request;
  const { groupId } = aggregate.mission;
  return (
    checkContract(contract, aggregate, context.now) ??
    checkDependencies(contract, { groupId, dependencyIds: payload.dependencyIds }, view) ??
    checkInputs(view, aggregate.mission, contract.inputArtifacts) ??
    checkParent(payload.parentWorkItemId, groupId, view) ??
    checkReplaced(payload.replacesWorkItemId, groupId, view) ??
    checkProposal(payload, contract, groupId, view, context) ??
    checkCurrency(view.mustGet('budget_account', accountOf(request, aggregate)), contract.budget)
  );
}

function checkUnused(workItemId: string, view: View): Refusal | undefined {
  if (!view.get('work_item', workItemId)) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the WorkItem id is already used');
}

/** Ended work hands out no budget any more. */
function checkParent(parentWorkItemId: string | undefined, groupId: string, view: View): Refusal | undefined {
  if (parentWorkItemId === undefined) return undefined;
  const parent = view.get('work_item', parentWorkItemId);
  if (parent?.workItem.groupId !== groupId) {
    return refuse('INVALID_COMMAND', 'the parent is no WorkItem of this Mission');
  }
  if (isUnfinished(parent)) return undefined;
  return refuse('INVALID_STATE_TRANSITION', `the parent WorkItem is ${parent.workItem.state}`);
}

/** A replacement makes good for what failed or was misunderstood, never for a verified result. */
function checkReplaced(replacesWorkItemId: string | undefined, groupId: string, view: View): Refusal | undefined {
  if (replacesWorkItemId === undefined) return undefined;
  const replaced = view.get('work_item', replacesWorkItemId);
  if (replaced?.workItem.groupId !== groupId) {
    return refuse('INVALID_COMMAND', 'what is replaced is no WorkItem of this Mission');
  }
  if (replaced.workItem.state !== 'verified') return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'a verified WorkItem is not replaced');
}
