// Stage 4 at work: which record the signer rule and the key id pick, and at which instant its interval is asked.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { validateBinding } from '../../src/trust/bindings.ts';
import { freshnessFailure } from '../../src/trust/freshness.ts';
import type { KeyBinding, RegistryEvidence } from '../../src/trust/evidence.ts';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { readDocument, verifyDocument } from '../../src/trust/verify.ts';
import { replayAdmission } from '../../src/trust/admission.ts';
import { memoryLog } from './memory-log.ts';
import { agent, human, ORGANIZATION, registry, registryOf, service, stranger } from './sample-organization.ts';
import { TIME, UNSIGNED } from './sample-organization.ts';

const signedBy = (signer = agent.signer, over: object = {}) =>
  signDocument('command', { ...UNSIGNED.command, ...over }, signer).document;

async function judge(value: unknown, evidence: RegistryEvidence = registry, organizationId = ORGANIZATION) {
  const result = await verifyDocument('command', { value }, organizationId, evidence);
  if (result.ok) return 'complete';
  const { stage, reason } = result.diagnostic.forAudit();
  return `${stage} ${reason}`;
}
const withBinding = (over: Partial<KeyBinding>) => registryOf({ binding: { ...agent.binding, ...over } });
const ending = (end: { validUntil?: string; revokedAt?: string }) =>
  withBinding({ history: [{ sequence: 1, recordedAt: '2026-02-01T00:00:00Z', ...end }] });

afterEach(() => vi.useRealTimers());

describe('the record that is picked', () => {
  it("MWP-SDV-013: a correct signature under another Principal's key fails stage 4, of whatever type that one is", async () => {
    const all = registryOf(agent, human, service, stranger);
    expect(await judge(signedBy(), all)).toBe('complete');
    for (const other of [human, service, stranger]) {
      expect(await judge(signedBy(other.signer), all)).toBe('key-resolution key-of-another-principal');
    }
  });

  it('MWP-SDV-013: the type of the Principal counts as its id does', async () => {
    const asHuman = { ...agent.binding, principal: { type: 'human', id: agent.principal.id } } as const;
    expect(await judge(signedBy(), registryOf({ binding: asHuman }))).toBe('key-resolution key-of-another-principal');
    const claims = signedBy(agent.signer, { actor: { type: 'agent', id: stranger.principal.id } });
    expect(await judge(claims)).toBe('key-resolution key-of-another-principal');
  });

  it('MWP-SDV-013: the same key id of another Organization is not looked at', async () => {
    const elsewhere = 'urn:example:organization:other';
    const there = evidenceFromSnapshot(registrySnapshot(elsewhere, [agent.binding]));
    expect(await judge(signedBy(), there)).toMatch(/^key-resolution evidence-incomplete/);
    expect(await judge(signedBy(), there, elsewhere)).toBe('complete');
    // It is there, under another public key: the record of this Organization alone decides.
    const here = registryOf({ binding: { ...agent.binding, publicKey: stranger.binding.publicKey } });
    expect(await judge(signedBy(), here)).toBe('signature equation-fails');
  });

  it('MWP-SDV-013: a Card asks for any service and for nobody else', async () => {
    const issue = async (by: typeof agent) => {
      const value = signDocument('agent-card', UNSIGNED['agent-card'], by.signer).document;
      const result = await verifyDocument('agent-card', { value }, ORGANIZATION, registry);
      return result.ok ? 'complete' : result.diagnostic.forAudit().reason;
    };
    expect(await issue(service)).toBe('complete');
    expect(await issue(agent)).toBe('signer-not-a-service');
    expect(await issue(human)).toBe('signer-not-a-service');
  });
});

describe('what is asked before any cryptography', () => {
  const history = (...records: object[]) => ({ history: records as unknown as KeyBinding['history'] });
  const at = (sequence: number, over: object = {}) => ({ sequence, recordedAt: '2026-02-01T00:00:00Z', ...over });
  // The second of each pair is changed after it was signed: stage 6 would fail it, and is not reached.
  it.each<[string, KeyBinding[]]>([
    ['a key of the wrong length', [{ ...agent.binding, publicKey: 'AAAA' }]],
    ['the identity as a key', [{ ...agent.binding, publicKey: 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }]],
    ['another algorithm', [{ ...agent.binding, algorithm: 'ES256' as 'Ed25519' }]],
    ['a malformed validFrom', [{ ...agent.binding, validFrom: 'soon' }]],
    ['a history with a gap', [{ ...agent.binding, ...history(at(1), at(3)) }]],
    [
      'an end that was postponed',
      [
        {
          ...agent.binding,
          ...history(at(1, { validUntil: '2027-01-01T00:00:00Z' }), at(2, { validUntil: '2027-02-01T00:00:00Z' })),
        },
      ],
    ],
    ['an id bound to two keys', [agent.binding, { ...agent.binding, publicKey: stranger.binding.publicKey }]],
    ['a key under two ids', [agent.binding, { ...agent.binding, keyId: 'urn:example:key:alias' }]],
    ['no such key', [stranger.binding]],
  ])('MWP-SDV-015e: %s is stage 4, and no later fault is looked at', async (_name, bindings) => {
    const evidence = evidenceFromSnapshot(registrySnapshot(ORGANIZATION, bindings));
    const changed = { ...signedBy(), payload: { text: 'changed' } };
    expect(await judge(signedBy(), evidence)).toMatch(/^key-resolution /);
    expect(await judge(changed, evidence)).toMatch(/^key-resolution /);
    expect(await judge(changed)).toBe('signature equation-fails');
  });
});

describe('the instant that is asked', () => {
  it('MWP-SDV-014b, MWP-FND-005a: Registry times may be spelled with t, z and any offset, and compare as instants', async () => {
    expect(await judge(signedBy(), withBinding({ validFrom: '2026-03-01t17:30:00.5+05:30' }))).toBe('complete');
    expect(await judge(signedBy(), withBinding({ validFrom: '2026-03-01t17:30:00.500001+05:30' }))).toBe(
      'key-resolution key-not-yet-valid',
    );
    expect(await judge(signedBy(), ending({ revokedAt: '2026-03-01t14:00:00.51+02:00' }))).toBe('complete');
    expect(await judge(signedBy(), ending({ revokedAt: '2026-03-01t14:00:00.500+02:00' }))).toBe(
      'key-resolution key-revoked',
    );
    expect(await judge(signedBy(), ending({ validUntil: '2026-03-01t12:00:00.50z' }))).toBe(
      'key-resolution key-expired',
    );
  });

  it.each([
    '2026-03-01',
    '2026-02-30T00:00:00Z',
    '2026-03-01T12:00:60Z',
    '2026-03-01T12:00:00.Z',
    '2026-03-01T12:00:00-00:00',
    '2026-03-01 12:00:00Z',
    '0000-01-01T00:00:00Z',
  ])(
    'MWP-SDV-014b, MWP-FND-005a: a Registry time %s, which Date.parse or a generic checker may take, fails stage 4',
    async (time) => {
      expect(validateBinding({ ...agent.binding, validFrom: time })).toBe('valid-from-malformed');
      expect(await judge(signedBy(), withBinding({ validFrom: time }))).toMatch(/^key-resolution evidence-corrupt/);
      expect(await judge(signedBy(), ending({ validUntil: time }))).toMatch(/^key-resolution evidence-corrupt/);
    },
  );

  it('MWP-SDV-014c: a key that has ended since still verifies what was signed before, whatever the present is', async () => {
    const ended = ending({ validUntil: '2026-04-01T00:00:00Z', revokedAt: '2026-04-01T00:00:00Z' });
    const late = '2026-04-01T00:00:00Z';
    for (const present of ['2020-01-01T00:00:00Z', TIME, '2030-01-01T00:00:00Z']) {
      vi.useFakeTimers({ now: new Date(present), toFake: ['Date'] });
      expect(await judge(signedBy(), ended)).toBe('complete');
      expect(await judge(signedBy(agent.signer, { issuedAt: late }), ended)).toBe('key-resolution key-revoked');
    }
  });
});

describe('what the sender is told', () => {
  it('MWP-SDV-018a: every cause has its code, stage by stage', async () => {
    const text = JSON.stringify(signedBy());
    const signature = signedBy().signature;
    const spoiled = (over: object) => JSON.stringify({ ...signedBy(), ...over });
    const causes: [string, string, RegistryEvidence?][] = [
      ['PROTOCOL_VIOLATION', '{'],
      ['PROTOCOL_VIOLATION', `\ufeff${text}`],
      ['PROTOCOL_VIOLATION', text.replace('{', '{"kind":"message.post",')],
      ['PROTOCOL_VIOLATION', text.replace('2.5', '1e400')],
      ['PROTOCOL_VIOLATION', text.replace('hello', '\\udc00')],
      ['SCHEMA_VALIDATION_FAILED', text.replace('"message.post"', '"nothing"')],
      ['SCHEMA_VALIDATION_FAILED', spoiled({ signature: undefined })],
      ['SCHEMA_VALIDATION_FAILED', spoiled({ signature: { ...signature, algorithm: 'ES256' } })],
      ['AUTH_INVALID_SIGNATURE', spoiled({ issuedAt: '2026-03-01T12:00:00.50Z' })],
      ['AUTH_INVALID_SIGNATURE', spoiled({ signature: { ...signature, value: 'A'.repeat(85) + 'B' } })],
      ['AUTH_INVALID_SIGNATURE', text, registryOf(stranger)],
      ['AUTH_INVALID_SIGNATURE', text, withBinding({ validFrom: '2027-01-01T00:00:00Z' })],
      ['AUTH_INVALID_SIGNATURE', text.replace('hello', 'hellp')],
    ];
    for (const [code, bytes, evidence] of causes) {
      const result = await verifyDocument('command', { bytes: Buffer.from(bytes) }, ORGANIZATION, evidence ?? registry);
      expect(result.ok ? 'complete' : result.refusal.code).toBe(code);
    }
    const verified = await verifyDocument('command', { bytes: Buffer.from(text) }, ORGANIZATION, registry);
    if (!verified.ok) throw new Error('expected a verified Command');
    const unanchored = await replayAdmission(verified, memoryLog().log);
    const stale = freshnessFailure(TIME, '2027-01-01T00:00:00Z', { maxAgeSeconds: 300, maxSkewSeconds: 5 });
    expect([unanchored.ok || unanchored.refusal.code, stale?.refusal.code]).toEqual([
      'AUTH_INVALID_SIGNATURE',
      'AUTH_INVALID_SIGNATURE',
    ]);
  });

  it('MWP-IDN-008c: a Command of a human or a service that carries a Session Epoch fails its schema', () => {
    const read = (actor: object, over: object = {}) => {
      const { sessionEpoch: _session, ...command } = signedBy();
      const result = readDocument('command', { value: { ...command, actor, ...over } });
      return result.ok ? 'read' : result.refusal.code;
    };
    expect(read(agent.principal, { sessionEpoch: 1 })).toBe('read');
    expect(read(agent.principal)).toBe('SCHEMA_VALIDATION_FAILED');
    expect(read(human.principal)).toBe('read');
    expect(read(human.principal, { sessionEpoch: 1 })).toBe('SCHEMA_VALIDATION_FAILED');
    expect(read(service.principal, { sessionEpoch: 1 })).toBe('SCHEMA_VALIDATION_FAILED');
  });
});
