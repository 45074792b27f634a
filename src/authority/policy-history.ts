// The tenant's policy as it was when something was signed, out of the Registry's log. Asked by the few checks of rights that
// policy gives, and read from text only where the policy changed since; the usual Command costs one comparison.
import { completePolicy, type Policy } from '../domain/policy.ts';
import { addSeconds } from '../protocol/timestamps.ts';
import type { Registry } from '../trust/registry.ts';

/**
 * Two clocks are compared, the signer's and the database's. A right that was given this long after the signed time counts
 * as given at it, so that who is given one and uses it at once is not refused for a slow clock.
 */
export const SIGNED_TIME_TOLERANCE_SECONDS = 5;

/** `current`: the one that stands under the locks, as does the Registry's revision. */
export function policyHistory(registry: Pick<Registry, 'policyAt'>, current: Policy): (signedAt: string) => Policy {
  return (signedAt) => {
    const recorded = registry.policyAt(addSeconds(signedAt, SIGNED_TIME_TOLERANCE_SECONDS));
    if (!recorded || recorded.version === current.version) return current;
    return completePolicy(JSON.parse(recorded.document) as Policy);
  };
}
