// A whole Registry in one value, validated before any key of it is selected (MWP-SDV-005, -008, -009): every binding,
// its history and the uniqueness across the Organization. For bundles, exports and tests; a server keeps indexes.

import { z } from 'zod';
import { isUri } from '../protocol/documents/uri.ts';
import { parseStrictJson } from '../wire/strict-json.ts';
import { sameIdentity, validateBinding } from './bindings.ts';
import type { KeyBinding, KeyEvidence, KeyValidityRecord, RegistryEvidence } from './evidence.ts';

export interface RegistrySnapshot {
  readonly organizationId: string;
  readonly bindings: ReadonlyMap<string, KeyBinding>;
}

export type SnapshotResult =
  { readonly ok: true; readonly snapshot: RegistrySnapshot } | { readonly ok: false; readonly reason: string };

const statusShape = z.strictObject({
  sequence: z.int().min(1),
  recordedAt: z.string(),
  validUntil: z.string().optional(),
  revokedAt: z.string().optional(),
});
const snapshotShape = z.strictObject({
  organizationId: z.string(),
  bindings: z
    .array(
      z.strictObject({
        keyId: z.string(),
        principal: z.strictObject({ type: z.enum(['agent', 'human', 'service']), id: z.string() }),
        algorithm: z.literal('Ed25519'),
        publicKey: z.string(),
        validFrom: z.string(),
        validityHistory: z.array(statusShape),
      }),
    )
    .min(1),
});

/** The JSON of the published registry fixtures. */
export function readRegistrySnapshot(bytes: Uint8Array): SnapshotResult {
  const json = parseStrictJson(bytes);
  if (!json.ok) return { ok: false, reason: `registry is not strict JSON: ${json.fault}` };
  const shape = snapshotShape.safeParse(json.value);
  if (!shape.success) return { ok: false, reason: 'registry has not the shape of a snapshot' };
  const bindings = shape.data.bindings.map(({ validityHistory, ...binding }) => ({
    ...binding,
    history: validityHistory,
  }));
  return registrySnapshot(shape.data.organizationId, bindings);
}

/** Refuses the whole registry for one bad record, whichever key is asked for later. */
export function registrySnapshot(organizationId: string, declared: readonly KeyBinding[]): SnapshotResult {
  if (!isUri(organizationId)) return { ok: false, reason: 'organizationId is not a URI' };
  const bindings = new Map<string, KeyBinding>();
  const ownerOfPublicKey = new Map<string, string>();
  for (const next of declared) {
    const fault = validateBinding({ ...next, history: [] });
    if (fault !== undefined) return { ok: false, reason: `binding ${next.keyId}: ${fault}` };
    const known = bindings.get(next.keyId);
    if (known !== undefined && !sameIdentity(known, next)) {
      return { ok: false, reason: `binding ${next.keyId}: key-id-reused` };
    }
    // The canonical base64url text is as unique as the bytes.
    const owner = ownerOfPublicKey.get(next.publicKey);
    if (owner !== undefined && owner !== next.keyId) {
      return { ok: false, reason: `binding ${next.keyId}: public-key-already-bound` };
    }
    ownerOfPublicKey.set(next.publicKey, next.keyId);
    const history = mergeHistories(known?.history ?? [], next.history);
    if (history === undefined) return { ok: false, reason: `binding ${next.keyId}: history-rewritten` };
    bindings.set(next.keyId, { ...next, validFrom: known?.validFrom ?? next.validFrom, history });
  }
  for (const binding of bindings.values()) {
    const fault = validateBinding(binding);
    if (fault !== undefined) return { ok: false, reason: `binding ${binding.keyId}: ${fault}` };
  }
  return { ok: true, snapshot: { organizationId, bindings } };
}

/** Evidence of one validated snapshot. Another Organization is out of its scope, which is not absence. */
export function evidenceFromSnapshot(
  result: SnapshotResult,
  about: { revision: number; applicability?: 'current' | 'historical' } = { revision: 1 },
): RegistryEvidence {
  return {
    async resolve(organizationId, keyId): Promise<KeyEvidence> {
      if (!result.ok) return { outcome: 'corrupt', reason: result.reason };
      const { snapshot } = result;
      if (snapshot.organizationId !== organizationId) {
        return { outcome: 'incomplete', reason: 'the snapshot covers another Organization' };
      }
      return {
        outcome: 'established',
        organizationId,
        registryRevision: about.revision,
        applicability: about.applicability ?? 'current',
        binding: snapshot.bindings.get(keyId),
      };
    },
  };
}

/** One history in sequence order, or undefined where a sequence stands twice with different content. */
function mergeHistories(
  known: readonly KeyValidityRecord[],
  next: readonly KeyValidityRecord[],
): KeyValidityRecord[] | undefined {
  const bySequence = new Map<number, KeyValidityRecord>();
  for (const record of [...known, ...next]) {
    const earlier = bySequence.get(record.sequence);
    if (earlier !== undefined && !sameRecord(earlier, record)) return undefined;
    bySequence.set(record.sequence, record);
  }
  return [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
}

function sameRecord(a: KeyValidityRecord, b: KeyValidityRecord): boolean {
  return a.recordedAt === b.recordedAt && a.validUntil === b.validUntil && a.revokedAt === b.revokedAt;
}
