// Registry evidence for replay: every key with its whole retained history, out of the snapshot that is being proven. It can
// anchor nothing new (MWP-ADM-006a, -008). The one place that turns stored registry rows into evidence for the archive.
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { HistoryReader } from '../store/port.ts';
import { StoreFault } from '../store/port.ts';
import { validateBinding } from '../trust/bindings.ts';
import type { KeyBinding, KeyEvidence, RegistryEvidence } from '../trust/evidence.ts';

/** Keys kept in memory: about 1 kB each. */
const KEPT_MAXIMUM = 20_000;

export interface HistoricalEvidence extends RegistryEvidence {
  /**
   * The same with only the ends that were recorded before this time. A key that was good by what was known at an admission,
   * and is not by what is known now, was revoked later; its documents stand (design section 5).
   */
  knownBefore(time: string): RegistryEvidence;
}

export function storedEvidence(organizationId: string, reader: Pick<HistoryReader, 'keyEvidence'>): HistoricalEvidence {
  const kept = new Map<string, Promise<KeyEvidence>>();
  return historicalEvidence((keyId) => {
    const known = kept.get(keyId);
    if (known) return known;
    if (kept.size >= KEPT_MAXIMUM) kept.delete(kept.keys().next().value as string);
    const asked = ask(organizationId, keyId, reader);
    kept.set(keyId, asked);
    return asked;
  });
}

export function historicalEvidence(find: (keyId: string) => Promise<KeyEvidence>): HistoricalEvidence {
  return {
    resolve: (_, keyId) => find(keyId),
    knownBefore: (time) => ({ resolve: async (_, keyId) => withoutLaterEnds(await find(keyId), time) }),
  };
}

async function ask(
  organizationId: string,
  keyId: string,
  reader: Pick<HistoryReader, 'keyEvidence'>,
): Promise<KeyEvidence> {
  try {
    const row = (await reader.keyEvidence([keyId])).get(keyId);
    if (!row) return { outcome: 'incomplete', reason: 'the Registry gave no answer for a key' };
    const binding: KeyBinding | undefined = row.binding && { ...row.binding, history: row.validity };
    const fault = binding && validateBinding(binding);
    if (fault !== undefined) return { outcome: 'corrupt', reason: fault };
    const { registryRevision } = row;
    return { outcome: 'established', organizationId, registryRevision, applicability: 'historical', binding };
  } catch (error) {
    if (!(error instanceof StoreFault) || error.kind !== 'corrupt') throw error;
    return { outcome: 'corrupt', reason: error.message };
  }
}

function withoutLaterEnds(found: KeyEvidence, time: string): KeyEvidence {
  if (found.outcome !== 'established' || !found.binding) return found;
  const history = found.binding.history.filter(({ recordedAt }) => compareTimestamps(recordedAt, time) < 0);
  return { ...found, binding: { ...found.binding, history } };
}
