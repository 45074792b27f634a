// A corrected contract on an existing WorkItem (commands.md 1.20, MWP-WRK-002b): the next contract version, its budget
// reserved anew, every earlier offer withdrawn, so that only a fresh acceptance of the new version leads to work.
import { isRefusal, refuse, type Refusal } from '../protocol/refusals.ts';
import { amountsOf, parentAccountOf, reserve, reserveReads } from './allocation.ts';
import {
  workItemAccountId,
  type Amounts,
  type MissionAggregate,
  type WorkContract,
  type WorkItemAggregate,
} from './aggregates.ts';
import { add, checkCurrency, DIMENSIONS, within } from './budget.ts';
import type { DecisionContext, EventDraft } from './decider.ts';
import { checkInputs, contentReads, lineageReads } from './provenance.ts';
import { list, one, type ListRead, type Read } from './reads.ts';
import type { View } from './view.ts';
import {
  checkContract,
  checkDependencies,
  contractReferences,
  dependencyReads,
  readContract,
} from './work-contracts.ts';
import { withdrawn, workEvent } from './work-items.ts';

/** Everything that can still wait for something; verified work waits for nothing, so no cycle leads through it. */
function unverifiedRead(groupId: string): ListRead & { kind: 'work_item' } {
  const states = ['open', 'offered', 'queued', 'active', 'blocked', 'submitted', 'failed'];
  return list('work_item', { groupId, states }) as ListRead & { kind: 'work_item' };
}

export function revisionReads(groupId: string, contract: Record<string, unknown> | undefined): Read[] {
  if (!contract) return [];
  const waits = contractReferences(contract, 'dependencyWorkItemIds').length > 0;
  return [
    ...dependencyReads(contract),
    ...(waits ? [unverifiedRead(groupId)] : []),
    ...contractReferences(contract, 'inputArtifacts').flatMap((hash) => contentReads(groupId, hash)),
  ];
}

/** The second round, once the item is known. */
export function moreRevisionReads(
  view: View,
  { workItem, details }: WorkItemAggregate,
  value: Record<string, unknown> | undefined,
): Read[] {
  if (!value) return [];
  const contract = readContract(value);
  if (isRefusal(contract)) return [];
  const accountRead = one('budget_account', workItemAccountId(workItem.workItemId));
  if (!view.isLoaded(accountRead)) return [accountRead];
  const growth = growthOf(view, workItem.workItemId, amountsOf(contract.budget));
  return [
    ...reserveReads(view, parentAccountOf(workItem.missionId, details.parentWorkItemId), growth),
    ...lineageReads(view, workItem.groupId, contractReferences(value, 'inputArtifacts')),
  ];
}

export interface Revision {
  /** The item as it was, under the new contract and with its offers withdrawn. */
  revised: WorkItemAggregate<string>;
  event: EventDraft;
}

/** `item` carries its texts; the Event that this returns comes before that of the offer. */
export function revise(
  item: WorkItemAggregate<string>,
  value: Record<string, unknown>,
  mission: MissionAggregate,
  view: View,
  context: DecisionContext,
): Revision | Refusal {
  const contract = readContract(value);
  if (isRefusal(contract)) return contract;
  const { workItem, details } = item;
  const refusal =
    checkVersion(workItem.contract.contractVersion, contract.contractVersion) ??
    checkContract(contract, mission, context.now) ??
    checkDependencies(contract, { groupId: workItem.groupId, dependencyIds: undefined }, view) ??
    checkAcyclic(workItem, contract.dependencyWorkItemIds, view) ??
    checkInputs(view, workItem, contract.inputArtifacts);
  if (refusal) return refusal;
  const releases = reserveAgain(item, contract, view, context);
  if (isRefusal(releases)) return releases;
  const revision = workItem.revision + 1;
  const { offers } = workItem;
  const revised: WorkItemAggregate<string> = {
    workItem: { ...workItem, contract, revision, updatedAt: context.now, ...(offers && { offers: withdrawn(offers) }) },
    details,
  };
  const event = {
    kind: 'work.contract.revised',
    ...workEvent(item),
    payload: { workItemId: workItem.workItemId, revision, ...revised, releases },
  };
  return { revised, event };
}

/** The version is the compare-and-set of a contract: two revisions of the same one cannot both come next. */
function checkVersion(current: number, next: number): Refusal | undefined {
  if (next === current + 1) return undefined;
  return refuse('REVISION_CONFLICT', 'contractVersion must follow the current one', {
    expectedRevision: next,
    currentRevision: current,
  });
}

function checkAcyclic(
  { workItemId, groupId }: { workItemId: string; groupId: string },
  dependencies: readonly string[],
  view: View,
): Refusal | undefined {
  if (dependencies.length === 0) return undefined;
  const waiting = new Map(
    view
      .list(unverifiedRead(groupId))
      .map(({ workItem }) => [workItem.workItemId, workItem.contract.dependencyWorkItemIds]),
  );
  const seen = new Set<string>();
  const next = [...dependencies];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (id === workItemId) return refuse('INVALID_COMMAND', 'the WorkItem would wait for itself');
    if (seen.has(id)) continue;
    seen.add(id);
    next.push(...(waiting.get(id) ?? []));
  }
  return undefined;
}

/** MWP-AUT-004a: what is used or handed on already stays covered, and only the growth must fit the parent. */
function reserveAgain(
  { workItem, details }: WorkItemAggregate<string>,
  contract: WorkContract<string>,
  view: View,
  context: DecisionContext,
) {
  const account = view.mustGet('budget_account', workItemAccountId(workItem.workItemId));
  const parent = view.mustGet('budget_account', parentAccountOf(workItem.missionId, details.parentWorkItemId));
  const limit = amountsOf(contract.budget);
  const currency = checkCurrency(parent, contract.budget);
  if (currency) return currency;
  if (!within(add(account.usage, account.allocated), limit)) {
    return refuse('BUDGET_EXCEEDED', 'more than this budget is used or handed on already');
  }
  return reserve(view, parent, growthOf(view, workItem.workItemId, limit), context);
}

function growthOf(view: View, workItemId: string, limit: Partial<Amounts>): Partial<Amounts> {
  const before = view.get('budget_account', workItemAccountId(workItemId))?.limit ?? {};
  const growth: Partial<Amounts> = {};
  for (const dimension of DIMENSIONS) {
    growth[dimension] = Math.max(0, (limit[dimension] ?? 0) - (before[dimension] ?? 0));
  }
  return growth;
}
