// An Admission Log in memory that counts its calls and can be told how to fail, and what tests ask of an admission.

import type { FirstAdmissionRecord } from '../../src/protocol/documents/first-admission-record.ts';
import type { Admission, AdmissionJudgement } from '../../src/trust/admission.ts';
import type { AdmissionAppend, AdmissionLog, AdmissionLookup } from '../../src/trust/admission-log.ts';
import { service } from './sample-organization.ts';

export const ACCEPTED_AT = '2026-03-01T12:00:01Z';
export const context = (over = {}) => ({
  admissionRecordId: 'urn:example:admission:1',
  trustedAcceptedAt: ACCEPTED_AT,
  acceptedBy: service.principal,
  ...over,
});

export const reasonOf = (admission: Admission | AdmissionJudgement) =>
  admission.ok ? 'complete' : `${admission.diagnostic.forAudit().stage} ${admission.diagnostic.forAudit().reason}`;

export const logged = (value: unknown, by = service.principal) => ({ record: { value }, authenticatedService: by });

/** A log in memory that counts its calls and can be told how to fail. */
export function memoryLog(told: { lookup?: AdmissionLookup; append?: AdmissionAppend } = {}) {
  const rows = new Map<string, FirstAdmissionRecord>();
  const calls = { lookup: 0, append: 0, trustedContext: 0 };
  const keyOf = (organizationId: string, signingHash: string) => `${organizationId} ${signingHash}`;
  const log: AdmissionLog = {
    async lookup(organizationId, signingHash) {
      calls.lookup += 1;
      const row = rows.get(keyOf(organizationId, signingHash));
      return told.lookup ?? (row === undefined ? { outcome: 'absent' } : { outcome: 'found', ...logged(row) });
    },
    async appendOrGetExisting(candidate) {
      calls.append += 1;
      if (told.append !== undefined) return told.append;
      const key = keyOf(candidate.organizationId, candidate.signingHash);
      const row = rows.get(key);
      if (row !== undefined) return { outcome: 'existing', ...logged(row) };
      rows.set(key, candidate);
      return { outcome: 'committed', ...logged(candidate) };
    },
  };
  const trusted =
    (over = {}) =>
    () => {
      calls.trustedContext += 1;
      return context(over);
    };
  return { log, rows, calls, trusted };
}
