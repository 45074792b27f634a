// MWP-AUT-004, -005: whatever is allocated, charged, revised, cancelled and given back, in whatever order, no account ever
// holds less than what was used and handed on, and nothing is lost. fast-check prints the seed and the shortest history.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  missionAccountId,
  workItemAccountId,
  type Amounts,
  type BudgetAccountAggregate,
} from '../../src/domain/aggregates.ts';
import { add, DIMENSIONS, NO_AMOUNTS, within } from '../../src/domain/budget.ts';
import { isUnfinished } from '../../src/domain/work-items.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { byCoordinator, CODING, GROUP, MISSION, RIVAL, seedAgent, WORKER } from '../support/fixtures.ts';
import {
  acceptOffer,
  authorize,
  contractOf,
  itemOf,
  leaseIdOf,
  offer,
  staffedMission,
  start,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const METER = { type: 'service', id: 'urn:test:service:meter' } as const;
const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';
const LIMIT = 1_000_000;

type Step =
  | { do: 'authorize'; under: number; tokens: number; cents: number }
  | { do: 'revise'; item: number; tokens: number }
  | { do: 'charge'; item: number; tokens: number }
  | { do: 'cancel'; item: number }
  | { do: 'wait'; seconds: number };

/** Small enough that several fit, round enough that they fill a parent exactly now and then. */
const tokens = fc.integer({ min: 1, max: 10 }).map((tenths) => (tenths * LIMIT) / 10);
const few = fc.integer({ min: 1, max: LIMIT / 10 });
const item = fc.nat({ max: 100 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('authorize' as const), under: item, tokens, cents: fc.nat({ max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revise' as const), item, tokens }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('charge' as const), item, tokens: few }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), item }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 1_800, 3_600) }) },
);

/** A world whose items can be charged at once: each is started when it is authorized. */
class Ledger {
  readonly world: World = staffedMission();
  readonly items: string[] = [];
  readonly charges = new Map<string, number>();

  constructor(meteringWindowSeconds: number) {
    this.world.policy.meteringWindowSeconds = meteringWindowSeconds;
    this.world.policy.limits = { ...this.world.policy.limits, activeWorkItems: 1_000, delegationDepth: 4 };
    this.world.policy.services = [{ serviceId: METER.id, kinds: [USAGE], relay: false }];
    seedAgent(this.world, WORKER, [CODING], 1_000);
  }

  /** Positions count around; the one after the last item means the Mission. */
  run(next: Step): void {
    if (next.do === 'wait') return this.world.advance(next.seconds);
    if (next.do === 'authorize') return this.authorize(next);
    const workItemId = this.items[next.item % this.items.length];
    if (workItemId === undefined) return;
    if (next.do === 'cancel') this.attempt(byCoordinator('work.cancel', { workItemId, reason: 'x' }));
    if (next.do === 'charge') this.charge(workItemId, next.tokens);
    if (next.do === 'revise') this.revise(workItemId, next.tokens);
  }

  private authorize({ under, tokens, cents }: Step & { do: 'authorize' }): void {
    const workItemId = `urn:test:work:${this.items.length + 1}`;
    const parents = this.items.filter((id) => isUnfinished(itemOf(this.world, id)));
    const parentWorkItemId = parents[under % (parents.length + 1)];
    const budget = { currency: 'EUR', financialLimit: cents / 100, modelTokenLimit: tokens };
    const payload = { workItemId, ...(parentWorkItemId !== undefined && { parentWorkItemId }) };
    if (!this.attempt(authorize({ payload, contract: { budget } }))) return;
    this.items.push(workItemId);
    this.world.accept(offer({ workItemId }));
    this.world.accept(acceptOffer({ workItemId }));
    this.world.accept(start({ workItemId }));
  }

  private charge(workItemId: string, modelTokens: number): void {
    const executionLeaseId = this.leaseOf(workItemId);
    const payload = { workItemId, ownershipEpoch: 1, executionLeaseId, usageDelta: { modelTokens } };
    const charged = this.attempt({ kind: USAGE, actor: METER, groupId: GROUP, payload });
    if (charged) this.charges.set(workItemId, (this.charges.get(workItemId) ?? 0) + modelTokens);
  }

  private revise(workItemId: string, modelTokenLimit: number): void {
    const { contractVersion, budget } = itemOf(this.world, workItemId).workItem.contract;
    const contract = contractOf({ contractVersion: contractVersion + 1, budget: { ...budget, modelTokenLimit } });
    this.attempt(offer({ workItemId, candidateAgentIds: [RIVAL.id], contract }));
  }

  /** The item's first Execution Lease; a meter may cite it whatever became of it. */
  private leaseOf(workItemId: string): string {
    const entry = this.world.view
      .all()
      .find(({ kind, document }) => kind === 'lease' && isExecutionOf(document as never, workItemId));
    return entry?.id ?? leaseIdOf(this.world, workItemId);
  }

  attempt(draft: CommandDraft): boolean {
    if (isRefusal(this.world.decide(draft))) return false;
    this.world.accept(draft);
    return true;
  }

  accounts(): BudgetAccountAggregate[] {
    return this.world.view
      .all()
      .flatMap(({ kind, document }) => (kind === 'budget_account' ? [document as BudgetAccountAggregate] : []));
  }
}

function isExecutionOf(lease: { leaseType: string; workItemId?: string }, workItemId: string): boolean {
  return lease.leaseType === 'execution' && lease.workItemId === workItemId;
}

function sum(amounts: readonly Partial<Amounts>[]): Amounts {
  return amounts.reduce<Amounts>((total, part) => add(total, part), NO_AMOUNTS);
}

function expectSound(ledger: Ledger): void {
  const accounts = ledger.accounts();
  for (const account of accounts) {
    const children = accounts.filter(({ parentAccountId }) => parentAccountId === account.accountId);
    expect(account.allocated, account.accountId).toEqual(sum(children.map(({ limit }) => limit)));
    expect(within(add(account.usage, account.allocated), account.limit), account.accountId).toBe(true);
    for (const dimension of DIMENSIONS) expect(account.usage[dimension]).toBeGreaterThanOrEqual(0);
  }
  for (const [workItemId, charged] of ledger.charges) {
    expect(ledger.world.view.mustGet('budget_account', workItemAccountId(workItemId)).usage.modelTokens).toBe(charged);
  }
}

describe('MWP-AUT-004a, -005c: the accounts of a Mission', () => {
  it.each([0, 3_600])('stay sound after every step, with a metering window of %i seconds', (window) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 25 }), (steps) => {
        const ledger = new Ledger(window);
        for (const next of steps) {
          ledger.run(next);
          expectSound(ledger);
        }
        const replayed = ledger.world.replay();
        for (const account of ledger.accounts()) {
          expect(replayed.mustGet('budget_account', account.accountId)).toEqual(account);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each([0, 3_600])(
    'lose nothing: once all work has ended, what nobody used can be allocated again (%i)',
    (window) => {
      fc.assert(
        fc.property(fc.array(step, { minLength: 10, maxLength: 20 }), (steps) => {
          const ledger = new Ledger(window);
          steps.forEach((next) => ledger.run(next));
          for (const workItemId of ledger.items) {
            ledger.attempt(byCoordinator('work.cancel', { workItemId, reason: 'x' }));
          }
          ledger.world.advance(window);
          const used = [...ledger.charges.values()].reduce((total, charged) => total + charged, 0);
          const whole = (modelTokenLimit: number) =>
            authorize({ payload: { workItemId: 'urn:test:work:last' }, contract: { budget: { modelTokenLimit } } });
          if (used < LIMIT) expect(ledger.attempt(whole(LIMIT - used))).toBe(true);
          expectSound(ledger);
          const more = authorize({
            payload: { workItemId: 'urn:test:work:more' },
            contract: { budget: { modelTokenLimit: 1 } },
          });
          expect(ledger.world.outcome(more)).toBe('BUDGET_EXCEEDED');
          expect(ledger.world.view.mustGet('budget_account', missionAccountId(MISSION)).usage).toEqual(NO_AMOUNTS);
        }),
        { numRuns: 60 },
      );
    },
  );
});
