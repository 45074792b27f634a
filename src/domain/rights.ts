// What the tenant's policy lets a Principal do. A right counts where it stood when the document was signed and stands when
// it is accepted: one that was gained or lost in between helps nobody (MWP-ADM-014a).
import type { DecisionContext } from './decider.ts';
import type { Policy } from './policy.ts';

export type Policies = Pick<DecisionContext, 'policy' | 'policyAt'>;

export function hasRight({ policy, policyAt }: Policies, signedAt: string, has: (policy: Policy) => boolean): boolean {
  return has(policy) && has(policyAt(signedAt));
}

/** May this service sign a Command, or what the Command carries, of this kind? */
export function maySend({ services }: Policy, serviceId: string, kind: string): boolean {
  return services.some((rights) => rights.serviceId === serviceId && rights.kinds.includes(kind));
}

export function knowsService({ services }: Policy, serviceId: string): boolean {
  return services.some((rights) => rights.serviceId === serviceId);
}

/** Empty: every registered human may. */
export function mayOwnMissions({ missionOwners }: Policy, humanId: string): boolean {
  return missionOwners.length === 0 || missionOwners.includes(humanId);
}
