// Registry evidence for replay: every key with its whole retained history, out of what is being proven. It can anchor
// nothing new (MWP-ADM-006a, -008).
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { KeyEvidence, RegistryEvidence } from '../trust/evidence.ts';
import type { Registry } from '../trust/registry.ts';

export interface HistoricalEvidence extends RegistryEvidence {
  /**
   * The same with only the ends that were recorded before this time. A key that was good by what was known at an admission,
   * and is not by what is known now, was revoked later; its documents stand (design section 5).
   */
  knownBefore(time: string): RegistryEvidence;
}

/** Of a Registry that was proven; without one nothing can be judged, and each judgement says so. */
export function registryEvidence(organizationId: string, registry: Registry | undefined): HistoricalEvidence {
  return historicalEvidence(async (keyId) => {
    if (!registry) return { outcome: 'corrupt', reason: 'the Registry cannot be believed' };
    const binding = registry.binding(keyId);
    const registryRevision = registry.revision;
    return { outcome: 'established', organizationId, registryRevision, applicability: 'historical', binding };
  });
}

export function historicalEvidence(find: (keyId: string) => Promise<KeyEvidence>): HistoricalEvidence {
  return {
    resolve: (_, keyId) => find(keyId),
    knownBefore: (time) => ({ resolve: async (_, keyId) => withoutLaterEnds(await find(keyId), time) }),
  };
}

function withoutLaterEnds(found: KeyEvidence, time: string): KeyEvidence {
  if (found.outcome !== 'established' || !found.binding) return found;
  const history = found.binding.history.filter(({ recordedAt }) => compareTimestamps(recordedAt, time) < 0);
  return { ...found, binding: { ...found.binding, history } };
}
