// Budget accounts with what was used below them: the rolled-up usage is derived over the Mission tree, never stored as
// Group state (design section 3).
import type { Amounts, BudgetAccountAggregate } from '../../domain/aggregates.ts';
import { add, DIMENSIONS, NO_AMOUNTS, remainingOf } from '../../domain/budget.ts';
import { list } from '../../domain/reads.ts';
import type { Reader } from '../../store/port.ts';

/** Accounts below one page that are added up in one answer; a larger tree is told as null. */
const TREE_ACCOUNTS_MAXIMUM = 5_000;

/** `{ account }`: as stored, with `treeUsage` and `remaining`. */
export async function shownAccounts(reader: Reader, accounts: BudgetAccountAggregate[]): Promise<unknown[]> {
  const below = await descendantsOf(reader, accounts);
  return accounts.map((account) => ({
    account: {
      ...account,
      treeUsage: below ? rolledUp(account, below) : null,
      remaining: remainingOf(account),
    },
  }));
}

type Children = ReadonlyMap<string, BudgetAccountAggregate[]>;

/** Child accounts by parent, level by level, also in the Groups of child Missions. Undefined: too many. */
async function descendantsOf(reader: Reader, accounts: BudgetAccountAggregate[]): Promise<Children | undefined> {
  const children = new Map<string, BudgetAccountAggregate[]>();
  let level = accounts.filter(hasBelow);
  let count = 0;
  while (level.length > 0) {
    const asked = level.filter(({ accountId }) => !children.has(accountId));
    for (const { accountId } of asked) children.set(accountId, []);
    if (asked.length === 0) break;
    const { aggregates } = await reader.load(
      asked.map(({ accountId }) => list('budget_account', { parent: accountId })),
    );
    const found = aggregates.map(({ document }) => document as BudgetAccountAggregate);
    count += found.length;
    if (count > TREE_ACCOUNTS_MAXIMUM) return undefined;
    for (const account of found) children.get(account.parentAccountId ?? '')?.push(account);
    level = found.filter(hasBelow);
  }
  return children;
}

/** What children used stays within what was allocated to them, so without allocation there is nothing below. */
function hasBelow({ allocated }: BudgetAccountAggregate): boolean {
  return DIMENSIONS.some((dimension) => allocated[dimension] > 0);
}

function rolledUp(account: BudgetAccountAggregate, children: Children): Amounts {
  let total = add(NO_AMOUNTS, account.usage);
  for (const child of children.get(account.accountId) ?? []) total = add(total, rolledUp(child, children));
  return total;
}
