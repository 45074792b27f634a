// Restores a Group from a signed snapshot and the stream of its state (GDE-7, MWP-WRK-030c). Nothing is handed out before
// every check has passed, so who holds a projection and a cursor keeps both untouched until then.

import { samePrincipal, type Principal } from '../protocol/principals.ts';
import { replayAdmission } from '../trust/admission.ts';
import type { RegistryEvidence } from '../trust/evidence.ts';
import { linkOf } from '../trust/snapshot-link.ts';
import { verifyDocument, type Verified } from '../trust/verify.ts';
import { canonicalHash, tryCanonicalText } from '../wire/canonical.ts';
import type { GroupFold } from './group-fold.ts';
import { readState, type StateFault } from './state-reading.ts';

/** What the authority answered, as it came. */
export interface OfferedSnapshot {
  snapshot: unknown;
  admissionRecord: unknown;
  /** The bytes of `…/state`. Read only when the snapshot itself is good. */
  state: () => AsyncIterable<Uint8Array>;
}

/** What the caller knows by itself, from nothing that came with the snapshot. */
export interface ExpectedSnapshot {
  organizationId: string;
  groupId: string;
  /** The service that signs as this Group's authority; another service of the Organization is no authority. */
  authority: Principal;
  evidence: RegistryEvidence;
  /** Where a `CURSOR_TOO_OLD` named it. */
  snapshotArtifactHash?: string;
  /** The caller's cursor: a snapshot that ends before it would take it back. */
  after?: number;
}

export type RestoreFault = 'artifact-hash' | 'schema' | 'signature' | 'signer' | 'admission' | StateFault;

export type Restored =
  { readonly ok: true; readonly fold: GroupFold } | { readonly ok: false; readonly fault: RestoreFault };

/** The fold goes on strictly after `throughSequence`. Throws only what reading the stream throws. */
export async function restoreGroup(offered: OfferedSnapshot, expected: ExpectedSnapshot): Promise<Restored> {
  const judged = await judgeSnapshot(offered, expected);
  if (typeof judged === 'string') return { ok: false, fault: judged };
  const { document } = judged;
  const { groupId, throughSequence, stateHash } = document;
  const { organizationId } = expected;
  return readState(offered.state(), { organizationId, groupId, throughSequence, stateHash });
}

async function judgeSnapshot(
  { snapshot, admissionRecord }: OfferedSnapshot,
  expected: ExpectedSnapshot,
): Promise<Verified<'group-snapshot'> | RestoreFault> {
  const { organizationId, authority, evidence, after = 0 } = expected;
  if (expected.snapshotArtifactHash !== undefined && hashOf(snapshot) !== expected.snapshotArtifactHash) {
    return 'artifact-hash';
  }
  const verified = await verifyDocument('group-snapshot', { value: snapshot }, organizationId, evidence);
  if (!verified.ok) return isAboutItsForm(verified.diagnostic.forAudit().stage) ? 'schema' : 'signature';
  const { document } = verified;
  if (!samePrincipal(document.createdBy, authority)) return 'signer';
  const record = { outcome: 'found' as const, record: { value: admissionRecord }, authenticatedService: authority };
  const admission = await replayAdmission(verified, { lookup: () => Promise.resolve(record) });
  if (!admission.ok) return 'admission';
  // The schema of a snapshot names no Organization, so the signed link does; the state hash binds it once more.
  const link = linkOf(document);
  if (!link) return 'schema';
  if (link.organizationId !== organizationId) return 'organization';
  if (document.groupId !== expected.groupId) return 'group';
  return document.throughSequence < after ? 'sequence' : verified;
}

function isAboutItsForm(stage: string): boolean {
  return stage === 'parse' || stage === 'schema';
}

function hashOf(value: unknown): string | undefined {
  return tryCanonicalText(value).ok ? canonicalHash(value) : undefined;
}
