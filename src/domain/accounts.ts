// What Events do to budget accounts. Every change keeps `usage + allocated <= limit`, because what it folds was checked
// when it was decided; `allocated` of a parent is the sum of its children's limits.
import type { Amounts, BudgetAccountAggregate } from './aggregates.ts';
import type { Release } from './allocation.ts';
import { add, DIMENSIONS, subtract } from './budget.ts';
import type { View } from './view.ts';

/** A limited fold may never have seen an account; it skips it. */
function changeAccount(
  view: View,
  accountId: string,
  change: (account: BudgetAccountAggregate) => BudgetAccountAggregate,
): BudgetAccountAggregate | undefined {
  const account = view.toChange('budget_account', accountId);
  if (!account) return undefined;
  const changed = change(account);
  view.set('budget_account', accountId, account.groupId, changed);
  return changed;
}

/** A new account under its parent, whose `allocated` grows by its limit. */
export function openAccount(view: View, account: BudgetAccountAggregate & { parentAccountId: string }): void {
  view.set('budget_account', account.accountId, account.groupId, account);
  changeAccount(view, account.parentAccountId, (parent) => ({
    ...parent,
    allocated: add(parent.allocated, account.limit),
  }));
}

/** Another limit, after a contract revision; the parent hands out the difference. */
export function changeLimit(
  view: View,
  accountId: string,
  limit: Partial<Amounts>,
  currency: string | undefined,
): void {
  const before = view.toChange('budget_account', accountId);
  if (!before?.parentAccountId) return;
  const { currency: _former, ...rest } = before;
  view.set('budget_account', accountId, before.groupId, {
    ...rest,
    ...(currency !== undefined && { currency }),
    limit,
  });
  changeAccount(view, before.parentAccountId, (parent) => ({
    ...parent,
    allocated: add(subtract(parent.allocated, before.limit), limit),
  }));
}

export function charge(view: View, accountId: string, delta: Partial<Amounts>): void {
  changeAccount(view, accountId, (account) => ({ ...account, usage: add(account.usage, delta) }));
}

export function closeAccount(view: View, accountId: string, closedAt: string): void {
  changeAccount(view, accountId, (account) => ({ ...account, state: 'closed', closedAt }));
}

export function applyReleases(view: View, releases: readonly Release[] = []): void {
  for (const { accountId, returned, partial } of releases) {
    const released = changeAccount(view, accountId, (account) => ({
      ...account,
      limit: settledLimit(account),
      state: partial ? 'closed' : 'released',
    }));
    if (!released?.parentAccountId) continue;
    changeAccount(view, released.parentAccountId, (parent) => ({
      ...parent,
      allocated: subtract(parent.allocated, returned),
    }));
  }
}

/** `usage + allocated` in the dimensions that the account has. */
function settledLimit({ limit, usage, allocated }: BudgetAccountAggregate): Partial<Amounts> {
  const settled: Partial<Amounts> = {};
  for (const dimension of DIMENSIONS) {
    if (limit[dimension] !== undefined) settled[dimension] = usage[dimension] + allocated[dimension];
  }
  return settled;
}
