import { describe, expect, it } from 'vitest';
import type { FirstAdmissionRecord } from '../../src/protocol/documents/first-admission-record.ts';
import type { SignedDocumentKind } from '../../src/protocol/kinds.ts';
import { admitDocument, candidateRecord, judgeAdmission, replayAdmission } from '../../src/trust/admission.ts';
import { validateAdmissionRecord } from '../../src/trust/admission.ts';
import { freshnessFailure } from '../../src/trust/freshness.ts';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import type { UnsignedDocument } from '../../src/trust/signed-kinds.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { verifyDocument, type Verified } from '../../src/trust/verify.ts';
import { ACCEPTED_AT, context, logged, memoryLog, reasonOf } from './memory-log.ts';
import {
  agent,
  human,
  ORGANIZATION,
  registry,
  service,
  SIGNER_OF,
  stranger,
  TIME,
  UNSIGNED,
} from './sample-organization.ts';

async function verified<Kind extends SignedDocumentKind>(kind: Kind, evidence = registry): Promise<Verified<Kind>> {
  const { document } = signDocument(kind, UNSIGNED[kind] as UnsignedDocument<Kind>, SIGNER_OF[kind].signer);
  const result = await verifyDocument(kind, { value: document }, ORGANIZATION, evidence);
  if (!result.ok) throw new Error(`expected a verified ${kind}`);
  return result;
}

function withAgentHistory(record: object, applicability: 'current' | 'historical' = 'current') {
  const history = [{ sequence: 1, recordedAt: '2026-03-02T00:00:00Z', ...record }];
  const bindings = [{ ...agent.binding, history }, human.binding, service.binding];
  return evidenceFromSnapshot(registrySnapshot(ORGANIZATION, bindings), { revision: 2, applicability });
}

const command = await verified('command');
function recordOf(of: Verified, over: object = {}): FirstAdmissionRecord {
  const candidate = candidateRecord(of, context());
  if (!candidate.ok) throw new Error('expected a candidate');
  return { ...candidate.record, ...over };
}
describe('first admission', () => {
  it('MWP-ADM-001a: a record has exactly nine members, bound to the document', () => {
    expect(recordOf(command)).toEqual({
      protocolVersion: '0.1',
      admissionRecordId: 'urn:example:admission:1',
      organizationId: ORGANIZATION,
      documentKind: 'command',
      signingHash: command.signingHash,
      keyId: agent.binding.keyId,
      principal: agent.principal,
      trustedAcceptedAt: ACCEPTED_AT,
      acceptedBy: service.principal,
    });
  });

  it('MWP-ADM-003a: a hundred concurrent admissions leave one record, answered to all', async () => {
    const { log, rows, calls, trusted } = memoryLog();
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        admitDocument(command, log, trusted({ admissionRecordId: `urn:example:admission:${index}` })),
      ),
    );
    expect(rows.size).toBe(1);
    expect(new Set(all.map((admission) => admission.ok && admission.record.admissionRecordId)).size).toBe(1);
    expect(calls.append).toBe(100);
  });

  it('MWP-ADM-004b: a retry returns the first record without an append or trusted time', async () => {
    const { log, calls, trusted } = memoryLog();
    const first = await admitDocument(command, log, trusted());
    const retry = await admitDocument(command, log, trusted({ admissionRecordId: 'urn:example:admission:2' }));
    expect(retry).toEqual(first);
    expect(calls).toEqual({ lookup: 2, append: 1, trustedContext: 1 });
  });

  it.each(['unauthenticated', 'integrity-failed', 'unavailable', 'indeterminate'] as const)(
    'MWP-ADM-006b: with the lookup %s, trusted time is never asked for and nothing is appended',
    async (outcome) => {
      const { log, rows, calls, trusted } = memoryLog({ lookup: { outcome } });
      const admission = await admitDocument(command, log, trusted());
      expect(admission).toMatchObject({ ok: false, refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
      expect(calls).toEqual({ lookup: 1, append: 0, trustedContext: 0 });
      expect(rows.size).toBe(0);
    },
  );

  it.each([
    ['conflict', 'record-conflict'],
    ['unauthenticated', 'log-authentication-failed'],
    ['integrity-failed', 'append-integrity-not-established'],
    ['unavailable', 'log-unavailable'],
    ['indeterminate', 'log-indeterminate'],
    ['commit-failed', 'commit-failed'],
  ] as const)('MWP-ADM-003b: an append that ends %s fails closed as %s', async (outcome, reason) => {
    const { log, trusted } = memoryLog({ append: { outcome } });
    expect(reasonOf(await admitDocument(command, log, trusted()))).toBe(`admission ${reason}`);
  });

  it('MWP-ADM-006c, MWP-ADM-007: what the append returns is judged, our own record or a rival one of another id and time', async () => {
    const judge = async (outcome: 'committed' | 'existing', over: object) => {
      const { log, trusted } = memoryLog({ append: { outcome, ...logged(recordOf(command, over)) } });
      return reasonOf(await admitDocument(command, log, trusted()));
    };
    const rival = { admissionRecordId: 'urn:example:admission:rival', trustedAcceptedAt: '2026-03-01T13:00:00+00:30' };
    expect(await judge('existing', rival)).toBe('complete');
    expect(await judge('existing', { principal: stranger.principal })).toBe('admission record-binding-mismatch');
    expect(await judge('committed', { signingHash: `sha256:${'0'.repeat(64)}` })).toBe(
      'admission record-binding-mismatch',
    );
    expect(await judge('committed', { trustedAcceptedAt: '2025-12-31T23:59:59Z' })).toBe(
      'admission trusted-time-outside-key-interval',
    );
  });

  it('MWP-ADM-006a: evidence good only for the past admits nothing new, and replays what stands', async () => {
    const past = await verified('command', withAgentHistory({}, 'historical'));
    const { log, rows, trusted } = memoryLog();
    expect(reasonOf(await admitDocument(past, log, trusted()))).toBe('admission evidence-not-current');
    expect(rows.size).toBe(0);
    await admitDocument(command, log, trusted());
    expect(reasonOf(await replayAdmission(past, log))).toBe('complete');
  });

  it('MWP-ADM-010b: a backdated signing time rescues nothing after revocation', async () => {
    const revoked = await verified('command', withAgentHistory({ revokedAt: '2026-03-01T12:00:01Z' }));
    const { log, rows, trusted } = memoryLog();
    expect(reasonOf(await admitDocument(revoked, log, trusted()))).toBe('admission trusted-time-outside-key-interval');
    expect(rows.size).toBe(0);
    expect(
      reasonOf(await admitDocument(revoked, log, trusted({ trustedAcceptedAt: '2026-03-01T12:00:00.999Z' }))),
    ).toBe('complete');
  });

  it('MWP-ADM-002: the spelling of the trusted time is kept and judged as an instant', () => {
    const spelled = candidateRecord(command, context({ trustedAcceptedAt: '2026-03-01t14:00:01.000+02:00' }));
    expect(spelled).toMatchObject({ ok: true, record: { trustedAcceptedAt: '2026-03-01t14:00:01.000+02:00' } });
    expect(reasonOf(candidateRecord(command, context({ trustedAcceptedAt: 'not-a-time' })))).toBe(
      'admission malformed-trusted-time',
    );
    expect(reasonOf(candidateRecord(command, context({ acceptedBy: agent.principal })))).toBe(
      'admission record-schema-invalid',
    );
  });
});

describe('what is believed', () => {
  it.each<[string, object]>([
    ['Organization', { organizationId: 'urn:example:organization:other' }],
    ['kind', { documentKind: 'event' }],
    ['signing hash', { signingHash: `sha256:${'0'.repeat(64)}` }],
    ['key ID', { keyId: 'urn:example:key:other' }],
    ['Principal', { principal: { ...agent.principal, type: 'human' } }],
  ])('MWP-ADM-009a: a record of another %s is refused', (_name, over) => {
    expect(reasonOf(validateAdmissionRecord(command, logged(recordOf(command, over))))).toBe(
      'admission record-binding-mismatch',
    );
  });

  it('MWP-ADM-009a: a record is read strictly: no tenth member, no missing one, no doubled one', () => {
    const text = JSON.stringify(recordOf(command));
    const judge = (json: string) =>
      reasonOf(validateAdmissionRecord(command, { ...logged(null), record: { bytes: Buffer.from(json) } }));
    expect(judge(text)).toBe('complete');
    expect(judge(text.replace('{', '{"trusted":true,'))).toBe('admission record-schema-invalid');
    expect(judge(text.replace('{', '{"keyId":"urn:x:y",'))).toBe('admission record-schema-invalid');
    expect(judge(text.replace('"protocolVersion":"0.1",', ''))).toBe('admission record-schema-invalid');
    expect(judge(JSON.stringify({ ...recordOf(command), signature: {} }))).toBe('admission record-schema-invalid');
    expect(judge('null')).toBe('admission record-schema-invalid');
  });

  it('MWP-ADM-009b: acceptedBy must be the service that the log authenticated', () => {
    const other = { type: 'service', id: 'urn:example:service:other' } as const;
    expect(reasonOf(validateAdmissionRecord(command, logged(recordOf(command), other)))).toBe(
      'admission log-authentication-failed',
    );
  });

  it('MWP-ADM-010a: the interval is tested again at the acceptance time, half-open', async () => {
    const ended = await verified('command', withAgentHistory({ validUntil: '2026-03-01T12:00:02Z' }));
    const at = (trustedAcceptedAt: string) =>
      reasonOf(validateAdmissionRecord(ended, logged(recordOf(command, { trustedAcceptedAt }))));
    expect(at(agent.binding.validFrom)).toBe('complete');
    expect(at('2026-03-01T12:00:01.999999999Z')).toBe('complete');
    expect(at('2026-03-01T12:00:02Z')).toBe('admission trusted-time-outside-key-interval');
    expect(at('2025-12-31T23:59:59.999Z')).toBe('admission trusted-time-outside-key-interval');
    const revoked = await verified('command', withAgentHistory({ revokedAt: '2026-03-01T14:00:02+02:00' }));
    const before = (trustedAcceptedAt: string) =>
      reasonOf(validateAdmissionRecord(revoked, logged(recordOf(command, { trustedAcceptedAt }))));
    expect(before('2026-03-01T12:00:01.999999999Z')).toBe('complete');
    expect(before('2026-03-01T12:00:02Z')).toBe('admission trusted-time-outside-key-interval');
  });

  it('MWP-ADM-011: an Event returned as its own record is refused, on lookup and on append', async () => {
    const event = await verified('event');
    const itself = logged(event.document);
    const onLookup = memoryLog({ lookup: { outcome: 'found', ...itself } });
    expect(reasonOf(await admitDocument(event, onLookup.log, onLookup.trusted()))).toBe(
      'admission event-self-anchoring',
    );
    const onAppend = memoryLog({ append: { outcome: 'existing', ...itself } });
    expect(reasonOf(await admitDocument(event, onAppend.log, onAppend.trusted()))).toBe(
      'admission event-self-anchoring',
    );
    expect(reasonOf(validateAdmissionRecord(event, logged({ ...event.document, sequence: 2 })))).toBe(
      'admission record-schema-invalid',
    );
    expect(reasonOf(validateAdmissionRecord(command, logged(command.document)))).toBe(
      'admission record-schema-invalid',
    );
  });
});

describe('historical replay', () => {
  it('MWP-ADM-008a, MWP-ADM-008b: a record must stand; nothing is appended and no time is asked for', async () => {
    const { log, rows, calls, trusted } = memoryLog();
    expect(reasonOf(await replayAdmission(command, log))).toBe('admission record-missing');
    expect(rows.size).toBe(0);
    await admitDocument(command, log, trusted());
    expect(reasonOf(await replayAdmission(command, log))).toBe('complete');
    expect(calls).toEqual({ lookup: 3, append: 1, trustedContext: 1 });
  });

  it('MWP-ADM-008c: a later revocation leaves an anchored document valid and an unanchored one not', async () => {
    const { log, trusted } = memoryLog();
    await admitDocument(command, log, trusted());
    const later = await verified('command', withAgentHistory({ revokedAt: '2026-03-01T12:00:05Z' }));
    expect(reasonOf(await replayAdmission(later, log))).toBe('complete');
    expect(reasonOf(candidateRecord(later, context({ trustedAcceptedAt: '2026-03-02T00:00:00Z' })))).toBe(
      'admission trusted-time-outside-key-interval',
    );
  });
});

describe('the judgement inside a transaction', () => {
  it('MWP-ADM-006b: absence gives a record to append, a found one is validated, and failures ask for nothing', () => {
    let asked = 0;
    const ask = () => {
      asked += 1;
      return context();
    };
    const fresh = judgeAdmission(command, { outcome: 'absent' }, ask);
    expect(fresh).toMatchObject({ ok: true, append: true, record: recordOf(command) });
    expect(judgeAdmission(command, { outcome: 'found', ...logged(recordOf(command)) }, ask)).toMatchObject({
      ok: true,
      append: false,
    });
    expect(asked).toBe(1);
    expect(reasonOf(judgeAdmission(command, { outcome: 'unavailable' }, ask))).toBe('admission log-unavailable');
    const foreign = recordOf(command, { keyId: 'urn:example:key:other' });
    expect(reasonOf(judgeAdmission(command, { outcome: 'found', ...logged(foreign) }, ask))).toBe(
      'admission record-binding-mismatch',
    );
    expect(asked).toBe(1);
  });
});

describe('freshness', () => {
  const window = { maxAgeSeconds: 300, maxSkewSeconds: 5 };
  it.each([
    ['2026-03-01T12:05:00.5Z', undefined],
    ['2026-03-01T12:05:00.5000001Z', 'issued-too-long-ago'],
    ['2026-03-01T11:59:55.5Z', undefined],
    ['2026-03-01T11:59:55.4999999Z', 'issued-too-far-ahead'],
    [TIME, undefined],
  ])('MWP-ADM-013: issued %s ago of TIME, judged %s', (now, reason) => {
    const failure = freshnessFailure(TIME, now, window);
    expect(failure?.diagnostic.forAudit().reason).toBe(reason);
    if (failure !== undefined) expect(failure.refusal.code).toBe('AUTH_INVALID_SIGNATURE');
  });
});
