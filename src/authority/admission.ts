// Step 4 of design section 4: first admission of the Command and of every document inside it, judged on what the log
// holds under the locks. The records are written with the transition, under the log's unique constraints.
import type { Principal } from '../protocol/principals.ts';
import { canonicalText } from '../wire/canonical.ts';
import { judgeAdmission } from '../trust/admission.ts';
import type { AdmissionLookup } from '../trust/admission-log.ts';
import { freshnessFailure } from '../trust/freshness.ts';
import type { TrustFailure } from '../trust/outcome.ts';
import type { Verified } from '../trust/verify.ts';
import type { AdmissionRow, Opened } from '../store/port.ts';
import type { FailedDocument } from './failed-document.ts';
import type { PreparedCommand } from './prepare.ts';

export type AdmissionDraft = Omit<AdmissionRow, 'streamId' | 'revision'>;

export interface Admitted {
  /** Of the Command. */
  admissionRecordId: string;
  /** Records to append. A document that was admitted earlier adds none. */
  appended: AdmissionDraft[];
  /** Why an embedded document is not admitted; told in its turn (C15). */
  documentFailure?: FailedDocument;
}

export type AdmissionContext = { now: string; acceptedBy: Principal; newId: () => string };

export function admitAll(
  { verified, documents }: PreparedCommand,
  opened: Opened,
  context: AdmissionContext,
): { ok: true; admitted: Admitted } | TrustFailure {
  const found = lookup(opened, verified.signingHash, context);
  if (found.outcome === 'absent') {
    // Freshness is for new Commands, on the plain database clock (design section 4).
    const { behindSeconds, aheadSeconds } = opened.policy.freshness;
    const window = { maxAgeSeconds: behindSeconds, maxSkewSeconds: aheadSeconds };
    const stale = freshnessFailure(verified.protectedTime, opened.now, window);
    if (stale) return stale;
  }
  const own = admitOne(verified, found, context);
  if (!own.ok) return own;
  const admitted: Admitted = { admissionRecordId: own.recordId, appended: own.appended ? [own.appended] : [] };
  const seen = new Set<string>();
  for (const document of documents) {
    if (seen.has(document.verified.signingHash)) continue;
    seen.add(document.verified.signingHash);
    const result = admitOne(document.verified, lookup(opened, document.verified.signingHash, context), context);
    if (!result.ok) {
      const { path, verified: names } = document;
      const documentFailure = { path, kind: names.kind, failure: result, names };
      return { ok: true, admitted: { ...admitted, documentFailure } };
    }
    if (result.appended) admitted.appended.push(result.appended);
  }
  return { ok: true, admitted };
}

function admitOne(
  verified: Verified,
  found: AdmissionLookup,
  { now, acceptedBy, newId }: AdmissionContext,
): { ok: true; recordId: string; appended?: AdmissionDraft } | TrustFailure {
  const judged = judgeAdmission(verified, found, () => ({
    admissionRecordId: newId(),
    trustedAcceptedAt: now,
    acceptedBy,
  }));
  if (!judged.ok) return judged;
  const { record } = judged;
  if (!judged.append) return { ok: true, recordId: record.admissionRecordId };
  const appended: AdmissionDraft = {
    signingHash: verified.signingHash,
    admissionRecordId: record.admissionRecordId,
    documentKind: verified.kind,
    keyId: verified.keyId,
    principal: verified.principal,
    trustedAcceptedAt: now,
    acceptedBy,
    record: canonicalText(record),
  };
  return { ok: true, recordId: record.admissionRecordId, appended };
}

/** Only this tenant's authority writes its log, so a record that names another acceptor is not believed. */
function lookup(opened: Opened, signingHash: string, { acceptedBy }: AdmissionContext): AdmissionLookup {
  const row = opened.admissions.find((admission) => admission.signingHash === signingHash);
  if (!row) return { outcome: 'absent' };
  return { outcome: 'found', record: { value: JSON.parse(row.record) }, authenticatedService: acceptedBy };
}
