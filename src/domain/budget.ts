// Exact budgets in six dimensions. One invariant per account, kept at allocation and at charge:
// `usage + allocated <= limit`. So a charge that fits its own account overflows no ancestor (design section 4).
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { Amounts, Budget, BudgetAccountAggregate } from './aggregates.ts';

export const DIMENSIONS = [
  'financialMicrounits',
  'modelTokens',
  'toolCalls',
  'computeSeconds',
  'wallClockSeconds',
  'externalActions',
] as const satisfies readonly (keyof Amounts)[];

export const NO_AMOUNTS: Amounts = {
  financialMicrounits: 0,
  modelTokens: 0,
  toolCalls: 0,
  computeSeconds: 0,
  wallClockSeconds: 0,
  externalActions: 0,
};

const LIMIT_MEMBERS = {
  modelTokens: 'modelTokenLimit',
  toolCalls: 'toolCallLimit',
  computeSeconds: 'computeSecondsLimit',
  wallClockSeconds: 'wallClockSecondsLimit',
  externalActions: 'externalSideEffectLimit',
} as const;

/** T-13: millionths of the currency from the decimal text; `undefined` when it has more than six decimals or is too big. */
export function microunits(value: number): number | undefined {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = 6 - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  if (shift < 0) {
    const divisor = 10n ** BigInt(-shift);
    if (digits % divisor !== 0n) return undefined;
    return toSafe(digits / divisor);
  }
  return shift > 40 ? undefined : toSafe(digits * 10n ** BigInt(shift));
}

function toSafe(value: bigint): number | undefined {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined;
}

/** The limits of a normative budget. An absent member is no dimension at all: any use of it overflows. */
export function limitsOf(budget: Budget): Partial<Amounts> | Refusal {
  const limits: Partial<Amounts> = {};
  if (budget.financialLimit !== undefined) {
    const money = microunits(budget.financialLimit);
    if (money === undefined) return refuse('INVALID_COMMAND', 'financialLimit must have at most six decimals');
    if (budget.currency === undefined) return refuse('INVALID_COMMAND', 'financialLimit needs a currency');
    limits.financialMicrounits = money;
  }
  for (const [dimension, member] of Object.entries(LIMIT_MEMBERS)) {
    const limit = budget[member];
    if (limit !== undefined) limits[dimension as keyof typeof LIMIT_MEMBERS] = limit;
  }
  return limits;
}

/** As `limitsOf`, for a budget that an accepted Command carried. */
export function acceptedLimits(budget: Budget): Partial<Amounts> {
  const limits = limitsOf(budget);
  if ('refused' in limits) throw new Error('an accepted budget must have exact limits');
  return limits;
}

export function add(a: Amounts, b: Partial<Amounts>): Amounts {
  return each((dimension) => a[dimension] + (b[dimension] ?? 0));
}

export function subtract(a: Amounts, b: Partial<Amounts>): Amounts {
  return each((dimension) => a[dimension] - (b[dimension] ?? 0));
}

/** Is `part` within `whole` in every dimension? Absent is zero on both sides. */
export function within(part: Partial<Amounts>, whole: Partial<Amounts>): boolean {
  return DIMENSIONS.every((dimension) => (part[dimension] ?? 0) <= (whole[dimension] ?? 0));
}

/** What the account can still charge or hand on; never negative while the invariant holds. */
export function spendable(account: BudgetAccountAggregate): Amounts {
  return each((dimension) => (account.limit[dimension] ?? 0) - account.usage[dimension] - account.allocated[dimension]);
}

/** As the wire shows it: null where the account has no such dimension. */
export function remainingOf(account: BudgetAccountAggregate): Record<keyof Amounts, number | null> {
  const left = spendable(account);
  const shown = {} as Record<keyof Amounts, number | null>;
  for (const dimension of DIMENSIONS)
    shown[dimension] = account.limit[dimension] === undefined ? null : left[dimension];
  return shown;
}

/** BUDGET_EXCEEDED unless `amounts` fits what the account has left. Names the first dimension that does not. */
export function checkFits(account: BudgetAccountAggregate, amounts: Partial<Amounts>): Refusal | undefined {
  const left = spendable(account);
  const over = DIMENSIONS.find((dimension) => (amounts[dimension] ?? 0) > left[dimension]);
  if (!over) return undefined;
  return refuse('BUDGET_EXCEEDED', `the budget does not cover this: ${over}`, { details: { dimension: over } });
}

/** A tree has one currency, fixed by the root; a part that spends no money needs none. */
export function checkCurrency(account: BudgetAccountAggregate, budget: Budget): Refusal | undefined {
  if (budget.currency === undefined || budget.currency === account.currency) return undefined;
  return refuse('INVALID_COMMAND', 'the currency differs from that of the Mission tree');
}

function each(value: (dimension: keyof Amounts) => number): Amounts {
  const amounts = { ...NO_AMOUNTS };
  for (const dimension of DIMENSIONS) amounts[dimension] = value(dimension);
  return amounts;
}
