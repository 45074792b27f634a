// The scope of an Execution Approval. approval.schema.json has no members for it, so what the human signs are its
// conditions, in the convention of the reference: `operation:`, `resource:`, `ownershipEpoch:`, `expiresAt:` and
// `budgetHash:`. The payload repeats them as members, and the two must say the same, no more and no less.
import type { Approval } from '../protocol/documents/approval.ts';
import { isRefusal, refuse, type Refusal } from '../protocol/refusals.ts';
import { addSeconds, compareTimestamps, isTimestamp } from '../protocol/timestamps.ts';
import type { ApprovalAggregate, Budget, MissionAggregate, WorkItemAggregate } from './aggregates.ts';
import { limitsOf, within } from './budget.ts';
import type { DecisionContext } from './decider.ts';

const DEFAULT_SECONDS = 300;

export interface StatedScope {
  ownershipEpoch: number;
  operations: readonly string[];
  resources?: readonly string[] | undefined;
  budget?: Budget | undefined;
  expiresAt?: string | undefined;
  expiresInSeconds?: number | undefined;
}

export type ExecutionScope = NonNullable<ApprovalAggregate['scope']>;

/**
 * The scope that was signed and stated. Its end is an absolute time, because a human signs before the authority accepts:
 * `expiresAt`, or `expiresInSeconds` counted from the time of the Approval.
 */
export function readScope(
  approval: Approval,
  stated: StatedScope,
  { hash }: Pick<DecisionContext, 'hash'>,
): ExecutionScope | Refusal {
  const budget = limitsOf(stated.budget ?? {});
  if (isRefusal(budget)) return budget;
  const { ownershipEpoch, operations, resources = [] } = stated;
  const expiresAt = stated.expiresAt ?? addSeconds(approval.occurredAt, stated.expiresInSeconds ?? DEFAULT_SECONDS);
  const expected = new Set([
    ...operations.map((operation) => `operation:${operation}`),
    ...resources.map((resource) => `resource:${resource}`),
    `ownershipEpoch:${ownershipEpoch}`,
    `budgetHash:${hash(stated.budget ?? {})}`,
  ]);
  const isEnd = (condition: string) => condition.startsWith('expiresAt:');
  const ends = approval.conditions.filter(isEnd).map((condition) => condition.slice('expiresAt:'.length));
  const others = new Set(approval.conditions.filter((condition) => !isEnd(condition)));
  const sameEnd = ends.length === 1 && ends.every((end) => isTimestamp(end) && compareTimestamps(end, expiresAt) === 0);
  const sameRest = others.size === expected.size && [...others].every((condition) => expected.has(condition));
  if (!sameEnd || !sameRest) return refuse('INVALID_COMMAND', 'the conditions of the Approval are not those stated');
  return { ownershipEpoch, operations: [...operations], resources: [...resources], budget, expiresAt };
}

/** An Approval widens nothing: Mission, contract and ownership stay the bounds. */
export function checkScope(
  scope: ExecutionScope,
  stated: StatedScope,
  { item, mission, ownershipEnd }: { item: WorkItemAggregate; mission: MissionAggregate; ownershipEnd: string },
  now: string,
): Refusal | undefined {
  const { contract } = item.workItem;
  const { permissions } = mission.details;
  if (permissions.length > 0 && !scope.operations.every((operation) => permissions.includes(operation))) {
    return refuse('AUTH_FORBIDDEN', 'the Mission does not permit an operation of the Approval');
  }
  const allowed = new Set(contract.allowedResources.map(({ resource }) => resource));
  if (!scope.resources.every((resource) => allowed.has(resource))) {
    return refuse('AUTH_FORBIDDEN', 'the contract does not allow a resource of the Approval');
  }
  if (stated.budget?.currency !== undefined && stated.budget.currency !== contract.budget.currency) {
    return refuse('INVALID_COMMAND', 'the currency differs from that of the contract');
  }
  const limits = limitsOf(contract.budget);
  if (isRefusal(limits) || !within(scope.budget, limits)) {
    return refuse('BUDGET_EXCEEDED', 'the budget of the Approval is beyond that of the contract');
  }
  const ahead = compareTimestamps(now, scope.expiresAt) < 0;
  if (ahead && compareTimestamps(scope.expiresAt, ownershipEnd) <= 0) return undefined;
  return refuse('INVALID_COMMAND', 'the Approval must end after now and no later than the ownership lease');
}
