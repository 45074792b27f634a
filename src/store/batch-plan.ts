// What several acceptances lock and read together. One alone is a batch of one.
import { readKey, type Read } from '../domain/reads.ts';
import type { GroupId } from '../protocol/ids.ts';
import { principalKey, type Principal } from '../protocol/principals.ts';
import type { AcceptancePlan, LockMode, ReceiptKey } from './port.ts';

export interface BatchPlan {
  organization: LockMode;
  actors: Principal[];
  actorMode: LockMode;
  /** The mission trees that these Groups belong to. */
  trees: GroupId[];
  treeMode: LockMode;
  groups: GroupId[];
  receipts: ReceiptKey[];
  signingHashes: string[];
  /** Each once. */
  reads: Read[];
}

/** An exclusive lock makes everybody wait, and a second Group could be waited for while the first is held. */
export function mayShare({ organization, actor, tree, groups, alone = false }: AcceptancePlan): boolean {
  const exclusive = [organization, actor?.mode, tree?.mode].includes('exclusive');
  return !alone && !exclusive && groups.length === 1;
}

export function batchPlan(plans: readonly AcceptancePlan[]): BatchPlan {
  const modes = (mode: (plan: AcceptancePlan) => LockMode | undefined): LockMode =>
    plans.some((plan) => mode(plan) === 'exclusive') ? 'exclusive' : 'shared';
  return {
    organization: modes(({ organization }) => organization),
    actors: once(
      plans.flatMap(({ actor }) => (actor ? [actor.principal] : [])),
      principalKey,
    ),
    actorMode: modes(({ actor }) => actor?.mode),
    trees: once(plans.flatMap(({ tree }) => (tree ? [tree.groupId] : []))),
    treeMode: modes(({ tree }) => tree?.mode),
    groups: once(plans.flatMap(({ groups }) => groups)),
    receipts: once(
      plans.map(({ receipt }) => receipt),
      receiptKey,
    ),
    signingHashes: once(plans.flatMap(({ signingHashes }) => signingHashes)),
    reads: once(
      plans.flatMap(({ reads }) => reads),
      readKey,
    ),
  };
}

export function receiptKey({ actor, actionId }: ReceiptKey): string {
  return `${principalKey(actor)} ${actionId}`;
}

function once<Value>(values: Value[], keyOf: (value: Value) => string = String): Value[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()];
}
