// Absence is an answer of its own: nothing that failed can be written as it or read as it. What the compiler must refuse here
// is refused by `npm run check`; that each failure is refused at run time too is in admission.test.ts and verify.test.ts.
import { describe, expect, it } from 'vitest';
import type { AdmissionLookup, LogFailure, TrustedContext } from '../../src/trust/admission-log.ts';
import { judgeAdmission } from '../../src/trust/admission.ts';
import type { KeyEvidence } from '../../src/trust/evidence.ts';
import type { Verified } from '../../src/trust/verify.ts';

describe('proven absence', () => {
  it('GDE-10: of a key is said with the revision at which it holds, and by no failure', () => {
    const place = { organizationId: 'urn:test:organization:1', registryRevision: 1 };
    const absent: KeyEvidence = { outcome: 'established', ...place, binding: undefined };
    // @ts-expect-error a binding that nobody looked for is not one that is absent
    const forgotten: KeyEvidence = { outcome: 'established', ...place };
    // @ts-expect-error nor is there absence without a revision
    const unplaced: KeyEvidence = { outcome: 'established', binding: undefined };
    // @ts-expect-error a failure says nothing of a binding
    const failed: KeyEvidence = { outcome: 'unavailable', reason: 'no answer', binding: undefined };
    // @ts-expect-error and nothing at all is no evidence
    const missed: KeyEvidence = undefined;
    // @ts-expect-error who has not asked which outcome it is cannot read a binding
    const bindingOf = (evidence: KeyEvidence): unknown => evidence.binding;
    // @ts-expect-error a failure is none of what a cache may keep as established
    const established: Extract<KeyEvidence, { outcome: 'established' }> = { outcome: 'stale', reason: 'old' };
    expect([absent, forgotten, unplaced, failed, missed, established]).toHaveLength(6);
    expect(bindingOf({ outcome: 'corrupt', reason: 'seal' })).toBeUndefined();
  });

  it('GDE-10: of an admission record is said by one outcome; after no other one is trusted time asked for', () => {
    const absent: AdmissionLookup = { outcome: 'absent' };
    // @ts-expect-error nothing found is not absence
    const missed: AdmissionLookup = undefined;
    // @ts-expect-error nor is a boolean
    const told: AdmissionLookup = { outcome: false };
    // @ts-expect-error nor a found record without the service that the log authenticated
    const anonymous: AdmissionLookup = { outcome: 'found', record: { value: {} } };
    // @ts-expect-error a failure of the log is no absence
    const assumed: Extract<AdmissionLookup, { outcome: 'absent' }> = { outcome: 'unavailable' };
    // @ts-expect-error trusted time that is not there is no trusted context
    const timeless: TrustedContext = {
      admissionRecordId: 'urn:test:record:1',
      acceptedBy: { type: 'service', id: 'x' },
    };
    expect([absent, missed, told, anonymous, assumed, timeless]).toHaveLength(6);
    const failures: LogFailure[] = ['unauthenticated', 'integrity-failed', 'unavailable', 'indeterminate'];
    for (const outcome of failures) {
      let isAsked = false;
      const judged = judgeAdmission({} as Verified, { outcome }, () => {
        isAsked = true;
        throw new Error('asked for trusted time');
      });
      expect([outcome, judged.ok, isAsked]).toEqual([outcome, false, false]);
    }
  });
});
