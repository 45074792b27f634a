// Restores a Group from a signed snapshot and the stream of its state (GDE-7, MWP-WRK-030c). Nothing is handed out before
// every check has passed, so who holds a projection and a cursor keeps both untouched until then.

import { isAggregateKind } from '../domain/aggregate-index.ts';
import type { LoadedAggregate } from '../domain/reads.ts';
import { samePrincipal, type Principal } from '../protocol/principals.ts';
import { replayAdmission } from '../trust/admission.ts';
import type { RegistryEvidence } from '../trust/evidence.ts';
import { linkOf } from '../trust/snapshot-link.ts';
import { verifyDocument, type Verified } from '../trust/verify.ts';
import { canonicalHash, tryCanonicalText } from '../wire/canonical.ts';
import { splitLines } from '../wire/lines.ts';
import { stateDocument, stateHash, type AggregateHash } from '../wire/state-document.ts';
import { readAggregateLine, readStateHeader, STATE_LINE_MAXIMUM } from '../wire/state-lines.ts';
import { GroupFold } from './group-fold.ts';

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

export type RestoreFault =
  | 'artifact-hash'
  | 'schema'
  | 'signature'
  | 'signer'
  | 'admission'
  | 'organization'
  | 'group'
  | 'sequence'
  | 'state-unreadable'
  | 'state-hash';

export type Restored =
  { readonly ok: true; readonly fold: GroupFold } | { readonly ok: false; readonly fault: RestoreFault };

/** The fold goes on strictly after `throughSequence`. Throws only what reading the stream throws. */
export async function restoreGroup(offered: OfferedSnapshot, expected: ExpectedSnapshot): Promise<Restored> {
  const judged = await judgeSnapshot(offered, expected);
  if (typeof judged === 'string') return { ok: false, fault: judged };
  const { document } = judged;
  const aggregates = await readState(offered.state(), document, expected.organizationId);
  if (typeof aggregates === 'string') return { ok: false, fault: aggregates };
  const { groupId, throughSequence } = document;
  const fold = GroupFold.from({ organizationId: expected.organizationId, groupId, throughSequence }, aggregates);
  return { ok: true, fold };
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

class StreamFault extends Error {}

async function readState(
  bytes: AsyncIterable<Uint8Array>,
  { groupId, throughSequence, stateHash: signed }: Verified<'group-snapshot'>['document'],
  organizationId: string,
): Promise<LoadedAggregate[] | RestoreFault> {
  const lines = splitLines(bytes, STATE_LINE_MAXIMUM, (sentence) => new StreamFault(sentence));
  try {
    const first = await lines.next();
    const header = first.done ? undefined : readStateHeader(first.value);
    if (!header) return 'state-unreadable';
    if (header.organizationId !== organizationId) return 'organization';
    if (header.groupId !== groupId) return 'group';
    if (header.throughSequence !== throughSequence) return 'sequence';
    if (header.stateHash !== signed) return 'state-hash';
    const aggregates: LoadedAggregate[] = [];
    const hashes: AggregateHash[] = [];
    for await (const line of lines) {
      const read = readAggregateLine(line);
      if (!read || !isAggregateKind(read.kind) || hashes.length === header.aggregates) return 'state-unreadable';
      const { kind, id, document } = read;
      hashes.push({ kind, id, hash: canonicalHash(document) });
      aggregates.push({ kind, id, groupId, version: 1, document: document as never });
    }
    const isWhole = stateHash(stateDocument(organizationId, groupId, hashes)) === signed;
    return isWhole ? aggregates : 'state-hash';
  } catch (error) {
    if (error instanceof StreamFault) return 'state-unreadable';
    throw error;
  } finally {
    await lines.return(undefined);
  }
}
