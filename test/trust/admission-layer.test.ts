// Admission as a layer of its own: what it takes, what it believes, and that it alters nothing of the six stages.
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { SignedDocumentKind } from '../../src/protocol/kinds.ts';
import { admitDocument, candidateRecord, replayAdmission, validateAdmissionRecord } from '../../src/trust/admission.ts';
import type { AdmissionAppend, AdmissionLookup } from '../../src/trust/admission-log.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { verifyDocument, type VerificationResult, type Verified } from '../../src/trust/verify.ts';
import { context, logged, memoryLog, reasonOf } from './memory-log.ts';
import { agent, ORGANIZATION, registry, registryOf, service, stranger, UNSIGNED } from './sample-organization.ts';

const { document } = signDocument('command', UNSIGNED.command, agent.signer);
const verify = (evidence = registry) => verifyDocument('command', { value: document }, ORGANIZATION, evidence);
const result = await verify();
if (!result.ok) throw new Error('expected a verified Command');
const command: Verified<'command'> = result;
const perfect = candidateRecord(command, context());
if (!perfect.ok) throw new Error('expected a candidate');

describe('what a record is worth', () => {
  it('MWP-ADM-001b: a record proves nothing by its own bytes: where the log holds none, a perfect one is of no use', async () => {
    const { log } = memoryLog({ lookup: { outcome: 'absent' } });
    expect(reasonOf(validateAdmissionRecord(command, logged(perfect.record)))).toBe('complete');
    expect(reasonOf(await replayAdmission(command, log))).toBe('admission record-missing');
  });

  it('MWP-ADM-001b: it is unsigned, and a signed one is none', () => {
    expect(perfect.record).not.toHaveProperty('signature');
    const signed = { ...perfect.record, signature: document.signature };
    expect(reasonOf(validateAdmissionRecord(command, logged(signed)))).toBe('admission record-schema-invalid');
  });

  it('MWP-ADM-001b: a record that the caller puts into its document is not the record that is kept', async () => {
    const own = { ...perfect.record, admissionRecordId: 'urn:example:admission:of-the-caller' };
    const extension = { version: '1.0.0', critical: false, data: { firstAdmissionRecord: own } };
    const carrying = { ...UNSIGNED.command, extensions: { 'urn:example:extension:record': extension } };
    const value = signDocument('command', carrying, agent.signer).document;
    const verified = await verifyDocument('command', { value }, ORGANIZATION, registry);
    if (!verified.ok) throw new Error('expected a verified Command');
    const { log, rows, trusted } = memoryLog();
    expect(await admitDocument(verified, log, trusted())).toMatchObject({
      ok: true,
      record: { admissionRecordId: context().admissionRecordId },
    });
    expect(JSON.stringify([...rows.values()])).not.toContain('of-the-caller');
  });

  it('MWP-ADM-003a: what another service wrote into the log is not believed', () => {
    const foreign = { type: 'service', id: 'urn:example:service:foreign' } as const;
    const record = { ...perfect.record, acceptedBy: foreign };
    expect(reasonOf(validateAdmissionRecord(command, logged(record)))).toBe('admission log-authentication-failed');
    expect(reasonOf(validateAdmissionRecord(command, logged(record, foreign)))).toBe('complete');
  });
});

describe('the log fails closed', () => {
  const FAILURES = ['unauthenticated', 'integrity-failed', 'unavailable', 'indeterminate'] as const;
  const APPEND_FAILURES = [...FAILURES, 'conflict', 'commit-failed'] as const;

  it('MWP-ADM-003b: each failure of lookup and append blocks admission and leaves no record; only success leaves one', async () => {
    const told: Parameters<typeof memoryLog>[0][] = [
      ...FAILURES.map((outcome) => ({ lookup: { outcome } })),
      ...APPEND_FAILURES.map((outcome) => ({ append: { outcome } })),
    ];
    const reasons = new Set<string>();
    for (const failing of told) {
      const { log, rows, trusted } = memoryLog(failing);
      const admission = await admitDocument(command, log, trusted());
      expect(admission).toMatchObject({ ok: false, refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
      expect(rows.size).toBe(0);
      reasons.add(reasonOf(admission));
    }
    expect(reasons.size).toBe(6);
    const { log, rows, trusted } = memoryLog();
    expect(reasonOf(await admitDocument(command, log, trusted()))).toBe('complete');
    expect(rows.size).toBe(1);
  });

  it('MWP-ADM-003c: a boolean of the caller stands in for no outcome of the log', async () => {
    const trusting = { trusted: true, authenticated: true, integrity: true, ok: true, found: true };
    for (const outcome of FAILURES) {
      const lookup = { outcome, ...trusting, ...logged(perfect.record) } as AdmissionLookup;
      const onLookup = memoryLog({ lookup });
      expect((await admitDocument(command, onLookup.log, onLookup.trusted())).ok).toBe(false);
    }
    for (const outcome of APPEND_FAILURES) {
      const append = { outcome, ...trusting, ...logged(perfect.record) } as AdmissionAppend;
      const onAppend = memoryLog({ append });
      expect((await admitDocument(command, onAppend.log, onAppend.trusted())).ok).toBe(false);
    }
    const { log, rows, trusted } = memoryLog();
    const admission = await admitDocument(command, log, trusted(trusting));
    expect(admission).toEqual(perfect);
    expect([...rows.values()]).toEqual([perfect.record]);
  });

  it('MWP-ADM-003c: no argument of admission is a boolean, and no option bag takes one', () => {
    type Arguments = Parameters<typeof admitDocument>;
    expectTypeOf<Extract<Arguments[number], boolean>>().toBeNever();
    expectTypeOf<Arguments['length']>().toEqualTypeOf<3>();
    expectTypeOf<Parameters<typeof replayAdmission>['length']>().toEqualTypeOf<2>();
    expect([admitDocument.length, replayAdmission.length]).toEqual([3, 2]);
  });
});

describe('a layer over the six stages', () => {
  it('MWP-ADM-005: only what passed all six stages can be admitted, by its type', async () => {
    const unknown = await verify(registryOf(stranger));
    expect(unknown.ok).toBe(false);
    const admit = (candidate: Verified) => candidateRecord(candidate, context());
    // @ts-expect-error a result that may be a failure is not yet verified
    expectTypeOf(admit).toBeCallableWith(unknown as VerificationResult<SignedDocumentKind>);
    // @ts-expect-error nor does a value that only looks like one pass
    const counterfeit: Verified = { ...unknown, ok: true, kind: 'command' };
    expect(counterfeit.binding).toBeUndefined();
  });

  it('MWP-ADM-005: the record keeps what was verified, and admission alters none of it', async () => {
    const { binding } = command;
    const before = JSON.stringify({ ...command, signingBytes: [...command.signingBytes] });
    const { log, trusted } = memoryLog();
    const admission = await admitDocument(command, log, trusted());
    expect(admission).toMatchObject({
      record: {
        organizationId: command.organizationId,
        documentKind: command.kind,
        signingHash: command.signingHash,
        keyId: command.keyId,
        principal: command.principal,
      },
    });
    await replayAdmission(command, log);
    expect(JSON.stringify({ ...command, signingBytes: [...command.signingBytes] })).toBe(before);
    expect(command.binding).toBe(binding);
  });

  it('MWP-ADM-005, MWP-ADM-012: the audit files its failures under a stage of its own, the wire under AUTH_INVALID_SIGNATURE', async () => {
    const { log } = memoryLog();
    const admission = await replayAdmission(command, log);
    if (admission.ok) throw new Error('expected no record');
    expect(admission.diagnostic.forAudit()).toEqual({ stage: 'admission', reason: 'record-missing' });
    const unknown = await verify(registryOf(service));
    if (unknown.ok) throw new Error('expected an unknown key');
    expect(unknown.diagnostic.forAudit().stage).toBe('key-resolution');
    expect(admission.refusal).toEqual(unknown.refusal);
  });

  it('MWP-ADM-007: preparing a candidate appends nothing and is no admission', async () => {
    const { log, rows, calls } = memoryLog();
    expect(candidateRecord(command, context()).ok).toBe(true);
    expect(calls).toEqual({ lookup: 0, append: 0, trustedContext: 0 });
    expect(rows.size).toBe(0);
    expect(reasonOf(await replayAdmission(command, log))).toBe('admission record-missing');
  });
});
