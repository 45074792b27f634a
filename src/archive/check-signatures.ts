// Historical replay (MWP-ADM-008): the six stages of a document again, with the whole retained history of its key, and the
// record that admitted it. Nothing is issued or appended. The signatures of a page are verified side by side.
import type { Principal } from '../protocol/principals.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import type { AdmissionRow, EventRow } from '../store/port.ts';
import { replayAdmission } from '../trust/admission.ts';
import type { AdmissionLookup } from '../trust/admission-log.ts';
import type { RegistryEvidence } from '../trust/evidence.ts';
import type { TrustFailure } from '../trust/outcome.ts';
import { isTimestamp } from '../protocol/timestamps.ts';
import { readDocument, verifyRead, type ReadResult, type Verified } from '../trust/verify.ts';
import { isErased, isErasedCommand, standInOf } from './erased.ts';
import type { HistoricalEvidence } from './historical-evidence.ts';
import type { RecordedTransition } from './recorded.ts';

export interface Accepting {
  organizationId: string;
  /** The one service that admits documents and accepts Events here. */
  authority: Principal;
  evidence: HistoricalEvidence;
}

export type Judgement =
  /** `standsIn`: of the rendition in the place of an erased original. */
  | { ok: true; verified: Verified; revokedLater: boolean; standsIn?: true }
  /** `document` where it could be read. */
  | { ok: false; reason: string; document?: object };

export interface JudgedTransition {
  recorded: RecordedTransition;
  events: Judgement[];
  /** Undefined: there is none, or it is erased. */
  command: Judgement | undefined;
  /** By signing hash. */
  embedded: Map<string, Judgement>;
}

/** Concurrency is bounded by the page; verifying itself happens in the thread pool. */
export function judgePage(page: readonly RecordedTransition[], accepting: Accepting): Promise<JudgedTransition[]> {
  return Promise.all(page.map((recorded) => judgeTransition(recorded, accepting)));
}

async function judgeTransition(recorded: RecordedTransition, accepting: Accepting): Promise<JudgedTransition> {
  const { events, command, admissions } = recorded;
  const found = (signingHash: string) => lookupOf(admissions.get(signingHash), accepting);
  const embedded = command?.embedded ?? [];
  const toRead = isErasedCommand(command, recorded) ? undefined : command;
  const [ofEvents, ofCommand, ...ofDocuments] = await Promise.all([
    Promise.all(
      events.map((row) => (row.body === '' ? judgeStandIn(row, recorded, accepting) : judgeEvent(row, accepting))),
    ),
    toRead && judge('command', toRead.read, () => found(toRead.row.signingHash), accepting),
    ...embedded.map(({ kind, value, signingHash }) =>
      judge<SignedDocumentKind>(
        kind,
        readDocument<SignedDocumentKind>(kind, { value }),
        () => found(signingHash),
        accepting,
      ),
    ),
  ]);
  return {
    recorded,
    events: ofEvents,
    command: ofCommand,
    embedded: new Map(embedded.map(({ signingHash }, index) => [signingHash, ofDocuments[index] as Judgement])),
  };
}

export function judgeEvent(row: EventRow, accepting: Accepting): Promise<Judgement> {
  const { authority, organizationId } = accepting;
  // An Event's admission record lies in columns beside it; this is the document that they stand for.
  const record = {
    protocolVersion: '0.1',
    admissionRecordId: row.admissionRecordId,
    organizationId,
    documentKind: 'event',
    signingHash: row.signingHash,
    keyId: row.keyId,
    principal: authority,
    trustedAcceptedAt: row.trustedAcceptedAt,
    acceptedBy: authority,
  };
  const read = readDocument('event', { bytes: Buffer.from(row.body, 'utf8') });
  const found = { outcome: 'found' as const, record: { value: record }, authenticatedService: authority };
  return judge('event', read, () => found, accepting);
}

async function judgeStandIn(row: EventRow, recorded: RecordedTransition, accepting: Accepting): Promise<Judgement> {
  if (!isErased(recorded, row)) return { ok: false, reason: 'its body is gone, and no erasure explains that' };
  const standIn = standInOf(recorded, row);
  if (!standIn) return { ok: false, reason: 'it is erased, and nothing stands in its place' };
  const read = readDocument('event', { bytes: Buffer.from(standIn.row.body, 'utf8') });
  const judged = await judge('event', read, () => lookupOf(standIn.admission, accepting), accepting);
  return judged.ok ? { ...judged, standsIn: true } : { ok: false, reason: `its rendition: ${judged.reason}` };
}

export function lookupOf(row: AdmissionRow | undefined, { authority }: Accepting): AdmissionLookup {
  if (!row) return { outcome: 'absent' };
  return { outcome: 'found', record: { bytes: Buffer.from(row.record, 'utf8') }, authenticatedService: authority };
}

export async function judge<Kind extends SignedDocumentKind>(
  kind: Kind,
  read: ReadResult<Kind>,
  found: () => AdmissionLookup,
  { organizationId, evidence }: Accepting,
): Promise<Judgement> {
  if (!read.ok) return { ok: false, reason: sentenceOf(read) };
  const replay = async (by: RegistryEvidence) => {
    const verified = await verifyRead(kind, read.document, organizationId, by);
    if (!verified.ok) return verified;
    const admission = await replayAdmission(verified, { lookup: () => Promise.resolve(found()) });
    return admission.ok ? verified : admission;
  };
  const now = await replay(evidence);
  if (now.ok) return { ok: true, verified: now, revokedLater: false };
  const admittedAt = trustedTimeOf(found());
  if (isAboutTheEnd(now) && admittedAt !== undefined) {
    const then = await replay(evidence.knownBefore(admittedAt));
    if (then.ok) return { ok: true, verified: then, revokedLater: true };
  }
  return { ok: false, reason: sentenceOf(now), document: read.document };
}

const ENDED = ['key-revoked', 'key-expired', 'trusted-time-outside-key-interval'];

function isAboutTheEnd(failure: TrustFailure): boolean {
  return ENDED.includes(failure.diagnostic.forAudit().reason);
}

function trustedTimeOf(found: AdmissionLookup): string | undefined {
  if (found.outcome !== 'found') return undefined;
  const { record } = found;
  try {
    const value: unknown = 'bytes' in record ? JSON.parse(Buffer.from(record.bytes).toString('utf8')) : record.value;
    const time = (value as { trustedAcceptedAt?: unknown } | null)?.trustedAcceptedAt;
    return typeof time === 'string' && isTimestamp(time) ? time : undefined;
  } catch {
    return undefined;
  }
}

/** Who verifies a whole database or holds a bundle may know why. */
function sentenceOf(failure: TrustFailure): string {
  const { stage, reason } = failure.diagnostic.forAudit();
  return `${stage}: ${reason}`;
}
