import { Point } from '@noble/ed25519';
import { describe, expect, it } from 'vitest';
import { validateBinding, validateHistoryAppend, validateNewBinding } from '../../src/trust/bindings.ts';
import { keyInterval, keyStatusAt, type KeyBinding, type KeyValidityRecord } from '../../src/trust/evidence.ts';
import { evidenceFromSnapshot, readRegistrySnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { agent, human, ORGANIZATION, party, service } from './sample-organization.ts';

const binding = agent.binding;
const record = (sequence: number, over: Partial<KeyValidityRecord> = {}): KeyValidityRecord => ({
  sequence,
  recordedAt: `2026-02-0${sequence}T00:00:00Z`,
  ...over,
});
const withHistory = (...history: KeyValidityRecord[]): KeyBinding => ({ ...binding, history });
const none = { underKeyId: undefined, underPublicKey: undefined };
const TORSION = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
const MIXED_ORDER = encodeBase64url(Point.BASE.add(TORSION).toBytes());

describe('one binding', () => {
  it('MWP-SDV-012a: a sound binding and history pass', () => {
    expect(validateBinding(binding)).toBeUndefined();
    const history = withHistory(
      record(1, { validUntil: '2026-06-01T00:00:00Z' }),
      record(2),
      record(3, { validUntil: '2026-06-01T02:00:00+02:00', revokedAt: '2026-05-01T00:00:00Z' }),
      record(4, { revokedAt: '2026-04-01T00:00:00Z' }),
    );
    expect(validateBinding(history)).toBeUndefined();
  });

  it.each<[string, Partial<KeyBinding>, string]>([
    ['a relative key ID', { keyId: 'key/1' }, 'key-id-not-a-uri'],
    ['a key ID with a final newline', { keyId: 'urn:k:1\n' }, 'key-id-not-a-uri'],
    ['an IRI-only Principal', { principal: { type: 'agent', id: 'urn:é' } }, 'principal-not-valid'],
    ['a bad percent escape', { principal: { type: 'agent', id: 'urn:a%zz' } }, 'principal-not-valid'],
    ['another algorithm', { algorithm: 'ES256' as 'Ed25519' }, 'algorithm-not-ed25519'],
    ['a padded key', { publicKey: `${binding.publicKey}=` }, 'public-key-not-canonical-base64url'],
    ['a short key', { publicKey: 'AAAA' }, 'public-key-not-32-bytes'],
    ['a malformed validFrom', { validFrom: '2026-01-01' }, 'valid-from-malformed'],
    ['a history that begins at 2', { history: [record(2)] }, 'history-not-contiguous'],
    ['a history with a gap', { history: [record(1), record(3)] }, 'history-not-contiguous'],
    [
      'a history out of order',
      { history: [record(1, { recordedAt: '2026-03-01T00:00:00Z' }), record(2)] },
      'history-not-append-ordered',
    ],
    ['a malformed end', { history: [record(1, { revokedAt: 'never' })] }, 'history-time-malformed'],
    [
      'a postponed end',
      {
        history: [
          record(1, { validUntil: '2026-06-01T00:00:00Z' }),
          record(2),
          record(3, { validUntil: '2026-06-02T00:00:00Z' }),
        ],
      },
      'valid-until-postponed',
    ],
  ])('MWP-SDV-008: %s is named', (_name, over, fault) => {
    expect(validateBinding({ ...binding, ...over })).toBe(fault);
  });

  it('MWP-SDV-012b: the earliest end ever recorded rules', () => {
    const two = withHistory(
      record(1, { validUntil: '2026-06-01T00:00:00Z', revokedAt: '2026-05-01T00:00:00Z' }),
      record(2, { validUntil: '2026-05-20T00:00:00+02:00' }),
    );
    expect(keyInterval(two)).toEqual({
      validFrom: binding.validFrom,
      validUntil: '2026-05-20T00:00:00+02:00',
      revokedAt: '2026-05-01T00:00:00Z',
    });
    expect(keyStatusAt(two, '2026-04-30T23:59:59.999Z')).toBe('valid');
    expect(keyStatusAt(two, '2026-05-01T00:00:00Z')).toBe('revoked');
    const cleared = withHistory(record(1, { revokedAt: '2026-05-01T00:00:00Z' }), record(2));
    expect(keyStatusAt(cleared, '2026-05-01T00:00:00Z')).toBe('revoked');
    expect(keyStatusAt(withHistory(record(1, { validUntil: '2026-05-01T00:00:00Z' })), '2026-05-01T00:00:00Z')).toBe(
      'expired',
    );
    expect(keyStatusAt(binding, '2025-12-31T23:59:59Z')).toBe('not-yet-valid');
  });

  it('MWP-SDV-012b: an end may be set or brought forward, never postponed', () => {
    const ended = withHistory(record(1, { validUntil: '2026-06-01T00:00:00Z', revokedAt: '2026-06-01T00:00:00Z' }));
    const append = (over: Partial<KeyValidityRecord>) => validateHistoryAppend(ended, record(2, over));
    expect(append({ validUntil: '2026-06-01T00:00:00.0000000001Z' })).toBe('valid-until-postponed');
    expect(append({ revokedAt: '2026-07-01T00:00:00Z' })).toBe('revoked-at-postponed');
    expect(append({ validUntil: '2026-05-31T00:00:00Z' })).toBeUndefined();
    expect(append({ revokedAt: '2026-06-01T00:00:00Z' })).toBeUndefined();
    expect(validateHistoryAppend(ended, record(3))).toBe('history-not-contiguous');
  });
});

describe('a new binding', () => {
  it('MWP-SDV-004a: an identical declaration is the same binding; any other under the ID is refused', () => {
    const known = { underKeyId: binding, underPublicKey: binding };
    expect(validateNewBinding(binding, none)).toEqual({ outcome: 'new' });
    expect(validateNewBinding({ ...binding, validFrom: '2026-01-01T01:00:00+01:00' }, known)).toEqual({
      outcome: 'same',
      binding,
    });
    const refused = { outcome: 'refused', fault: 'key-id-reused' };
    expect(validateNewBinding({ ...binding, validFrom: '2026-01-02T00:00:00Z' }, known)).toEqual(refused);
    expect(validateNewBinding({ ...binding, principal: human.principal }, known)).toEqual(refused);
    expect(validateNewBinding({ ...binding, publicKey: human.binding.publicKey }, known)).toEqual(refused);
  });

  it('MWP-SDV-004c: a public key under a second ID or Principal is refused', () => {
    const known = { underKeyId: undefined, underPublicKey: binding };
    const refused = { outcome: 'refused', fault: 'public-key-already-bound' };
    expect(validateNewBinding({ ...binding, keyId: 'urn:example:key:alias' }, known)).toEqual(refused);
    expect(validateNewBinding({ ...human.binding, publicKey: binding.publicKey }, known)).toEqual(refused);
  });

  it('MWP-SDV-005b: the point check comes before uniqueness', () => {
    const candidate = { ...binding, publicKey: 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' };
    const known = { underKeyId: human.binding, underPublicKey: human.binding };
    expect(validateNewBinding(candidate, known)).toEqual({ outcome: 'refused', fault: 'public-key-identity-point' });
    const mixed = validateNewBinding({ ...binding, publicKey: MIXED_ORDER }, known);
    expect(mixed).toEqual({ outcome: 'refused', fault: 'public-key-not-in-prime-order-subgroup' });
  });
});

describe('a whole registry', () => {
  const twin = (over: Partial<KeyBinding>): KeyBinding => ({ ...binding, ...over });
  it.each<[string, KeyBinding[]]>([
    ['an alias', [binding, twin({ keyId: 'urn:example:key:alias' })]],
    [
      'one public key under two Principals',
      [binding, twin({ keyId: 'urn:example:key:b', principal: human.principal })],
    ],
    ['a rebound ID', [binding, twin({ publicKey: human.binding.publicKey })]],
    ['a moved validFrom', [binding, twin({ validFrom: '2025-01-01T00:00:00Z' })]],
    [
      'a rewritten status',
      [twin({ history: [record(1)] }), twin({ history: [record(1, { revokedAt: '2026-05-01T00:00:00Z' })] })],
    ],
    ['an unrelated weak key', [human.binding, { ...service.binding, publicKey: 'AAAA' }]],
  ])('MWP-SDV-008: %s makes the whole registry unusable', async (_name, bindings) => {
    const result = registrySnapshot(ORGANIZATION, bindings);
    expect(result.ok).toBe(false);
    expect(await evidenceFromSnapshot(result).resolve(ORGANIZATION, human.binding.keyId)).toMatchObject({
      outcome: 'corrupt',
    });
  });

  it('MWP-SDV-004a: a repeated declaration is one binding with the union of its history', async () => {
    const first = twin({ history: [record(1, { validUntil: '2026-06-01T00:00:00Z' })] });
    const later = twin({ history: [record(1, { validUntil: '2026-06-01T00:00:00Z' }), record(2)] });
    const evidence = evidenceFromSnapshot(registrySnapshot(ORGANIZATION, [first, human.binding, later]));
    expect(await evidence.resolve(ORGANIZATION, binding.keyId)).toMatchObject({
      outcome: 'established',
      binding: { keyId: binding.keyId, history: [{ sequence: 1 }, { sequence: 2 }] },
    });
  });

  it('MWP-SDV-010a: another Organization is out of scope, an unknown key is proven absent', async () => {
    const evidence = evidenceFromSnapshot(registrySnapshot(ORGANIZATION, [binding]), { revision: 7 });
    expect(await evidence.resolve('urn:example:organization:other', binding.keyId)).toMatchObject({
      outcome: 'incomplete',
    });
    expect(await evidence.resolve(ORGANIZATION, 'urn:example:key:unknown')).toEqual({
      outcome: 'established',
      organizationId: ORGANIZATION,
      registryRevision: 7,
      applicability: 'current',
      binding: undefined,
    });
  });

  it('MWP-SDV-008: a registry file is read strictly', () => {
    const other = party('agent', 'file').binding;
    const { history: validityHistory, ...rest } = other;
    const text = JSON.stringify({ organizationId: ORGANIZATION, bindings: [{ ...rest, validityHistory }] });
    expect(readRegistrySnapshot(Buffer.from(text)).ok).toBe(true);
    for (const bad of [
      text.replace('{', '{"organizationId":"urn:x:y",'),
      text.replace('"validityHistory"', '"extra":1,"validityHistory"'),
      `${text}x`,
    ]) {
      expect(readRegistrySnapshot(Buffer.from(bad)).ok).toBe(false);
    }
  });
});
