// Handing budget down the tree and taking it back (design section 4). An account of ended work keeps its limit until its
// metering window has passed; what it did not use then returns to its parent with the next allocation that needs it.
// It decides only; accounts.ts folds.
import { addSeconds, compareTimestamps } from '../protocol/timestamps.ts';
import { isRefusal, type Refusal } from '../protocol/refusals.ts';
import {
  missionAccountId,
  workItemAccountId,
  type Amounts,
  type Budget,
  type BudgetAccountAggregate,
  type WorkItemAggregate,
} from './aggregates.ts';
import { checkFits, DIMENSIONS, limitsOf, spendable, subtract } from './budget.ts';
import type { DecisionContext } from './decider.ts';
import { list, one, type ListRead, type Read } from './reads.ts';
import type { View } from './view.ts';

/** One account that gives back what it did not use. Those below it come before it. */
export interface Release {
  accountId: string;
  returned: Amounts;
  /** Something below it still holds a limit, so it stays `closed` and may give back more later. */
  partial?: true;
}

/** Whose account hands out the budget of a WorkItem: the parent WorkItem's, else the Mission's. */
export function parentAccountOf(missionId: string, parentWorkItemId: string | undefined): string {
  return parentWorkItemId === undefined ? missionAccountId(missionId) : workItemAccountId(parentWorkItemId);
}

type AccountList = ListRead & { kind: 'budget_account' };

/** Accounts that ended but did not give back yet. */
function closedRead(parentAccountId: string): AccountList {
  return list('budget_account', { parent: parentAccountId, states: ['closed'] }) as AccountList;
}

/** Accounts that still hold a limit of their own. */
function unreleasedRead(parentAccountId: string): AccountList {
  return list('budget_account', { parent: parentAccountId, states: ['open', 'closed'] }) as AccountList;
}

/** What `reserve` looks at. Only an allocation that does not fit asks for the accounts that could give back. */
export function reserveReads(view: View, parentAccountId: string, amounts: Partial<Amounts>): Read[] {
  const parentRead = one('budget_account', parentAccountId);
  if (!view.isLoaded(parentRead)) return [parentRead];
  const parent = view.get('budget_account', parentAccountId);
  if (!parent || !checkFits(parent, amounts)) return [];
  const closed = closedRead(parentAccountId);
  if (!view.isLoaded(closed)) return [closed];
  return [closed, ...view.list(closed).flatMap((child) => unreleasedReads(view, child.accountId))];
}

function unreleasedReads(view: View, accountId: string): Read[] {
  const read = unreleasedRead(accountId);
  if (!view.isLoaded(read)) return [read];
  return [read, ...view.list(read).flatMap((child) => unreleasedReads(view, child.accountId))];
}

/** The amounts of a budget; nothing when it is not well-formed, which is told elsewhere. */
export function amountsOf(budget: Budget | undefined): Partial<Amounts> {
  const limits = budget ? limitsOf(budget) : {};
  return isRefusal(limits) ? {} : limits;
}

/** BUDGET_EXCEEDED, or the releases that must come first so that the allocation fits. */
export function reserve(
  view: View,
  parent: BudgetAccountAggregate,
  amounts: Partial<Amounts>,
  context: DecisionContext,
): Release[] | Refusal {
  const refusal = checkFits(parent, amounts);
  if (!refusal) return [];
  const releases: Release[] = [];
  let room = parent;
  for (const child of view.list(closedRead(parent.accountId))) {
    const freed = dueReleases(view, child, context);
    releases.push(...freed);
    room = afterReturn(room, child, freed);
    if (!checkFits(room, amounts)) return releases;
  }
  return refusal;
}

/** The releases of one closed account, deepest first; none while its window runs. */
function dueReleases(view: View, account: BudgetAccountAggregate, context: DecisionContext): Release[] {
  if (account.state !== 'closed' || account.closedAt === undefined) return [];
  const end = addSeconds(account.closedAt, context.policy.meteringWindowSeconds);
  if (compareTimestamps(context.now, end) < 0) return [];
  const children = view.list(unreleasedRead(account.accountId));
  // An account of another Group is changed by that Group's own Events only.
  const freed = children
    .filter(({ groupId }) => groupId === account.groupId)
    .map((child) => ({ child, releases: dueReleases(view, child, context) }));
  const settled = freed.filter(({ child, releases }) => {
    const own = releases.at(-1);
    return own?.accountId === child.accountId && !own.partial;
  });
  const rest = freed.reduce((left, { child, releases }) => afterReturn(left, child, releases), account);
  const own = release(rest, settled.length < children.length);
  return [...freed.flatMap(({ releases }) => releases), ...own];
}

/** Nothing when it neither returns anything nor is done with. */
function release(account: BudgetAccountAggregate, partial: boolean): Release[] {
  const returned = spendable(account);
  if (!partial) return [{ accountId: account.accountId, returned }];
  if (DIMENSIONS.every((dimension) => returned[dimension] === 0)) return [];
  return [{ accountId: account.accountId, returned, partial }];
}

function afterReturn(parent: BudgetAccountAggregate, child: BudgetAccountAggregate, releases: readonly Release[]) {
  const own = releases.at(-1);
  if (own?.accountId !== child.accountId) return parent;
  return { ...parent, allocated: subtract(parent.allocated, own.returned) };
}

/** What ending a WorkItem changes: its account, and its parent's where the policy leaves no metering window. */
export function endReads(view: View, workItemId: string): Read[] {
  const item = view.get('work_item', workItemId);
  if (!item) return [];
  const accountId = workItemAccountId(workItemId);
  return [
    one('budget_account', accountId),
    one('budget_account', parentAccountOf(item.workItem.missionId, item.details.parentWorkItemId)),
    unreleasedRead(accountId),
  ];
}

/** With no window for late metering, an account gives back in the very Event that ends its WorkItem. */
export function endReleases(view: View, { workItem }: WorkItemAggregate, context: DecisionContext): Release[] {
  const account = view.mustGet('budget_account', workItemAccountId(workItem.workItemId));
  if (context.policy.meteringWindowSeconds > 0) return [];
  return release(account, view.list(unreleasedRead(account.accountId)).length > 0);
}
