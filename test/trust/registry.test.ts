// A Registry folded from its log: what it proves of a key, and what makes the whole of it unbelievable.
import { describe, expect, it } from 'vitest';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { registrySeal } from '../../src/platform/registry-seal.ts';
import { Registry } from '../../src/trust/registry.ts';
import { generateKeyPair } from '../../src/trust/signing.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { chainedHash, registryHash, type RegistryEntry } from '../../src/wire/registry-log.ts';

const ORGANIZATION = 'urn:example:organization:acme';
const { seal, check } = registrySeal(new KeyVault(Buffer.alloc(32, 1)));
const service = (name: string) => ({ type: 'service', id: `urn:example:service:${name}` });
const AGENT = { type: 'agent', id: 'urn:example:agent:ada' };
/** y = 0: on the curve, of order 4. */
const SMALL_ORDER_KEY = Buffer.alloc(32).toString('base64url');

const FIRST = {
  organization: {
    organizationId: ORGANIZATION,
    slug: 'acme',
    displayName: 'Acme',
    createdAt: '2026-01-01T00:00:00Z',
    authority: service('authority'),
    identity: service('identity'),
    registrar: service('registrar'),
  },
  principals: [{ principal: AGENT, displayName: 'Ada' }],
};

function binding(keyId: string, more: object = {}) {
  const { publicKey } = generateKeyPair();
  return { keyId, principal: AGENT, algorithm: 'Ed25519', publicKey, validFrom: '2026-01-01T00:00:00Z', ...more };
}

/** Entries as the store would write them. */
function logOf(...changes: object[]): RegistryEntry[] {
  const entries: RegistryEntry[] = [];
  for (const change of changes) {
    const last = entries.at(-1);
    const entry = {
      revision: entries.length + 1,
      recordedAt: '2026-01-01T00:00:00.000Z',
      changes: canonicalText(change),
    };
    const hash = registryHash(ORGANIZATION, last && chainedHash(ORGANIZATION, last), entry);
    entries.push({ ...entry, hash, seal: seal(ORGANIZATION, entry.revision, hash) });
  }
  return entries;
}

function fold(entries: readonly RegistryEntry[], registry = new Registry(ORGANIZATION, check)) {
  for (const entry of entries) {
    const fault = registry.add(entry);
    if (fault !== undefined) return { fault, registry };
  }
  return { fault: undefined, registry };
}

const faultOf = (...changes: object[]) => fold(logOf(FIRST, ...changes)).fault;

describe('a Registry folded from its log', () => {
  it('MWP-SDV-007: holds every binding with its history, by key id, public key and principal, and proves absence', () => {
    const one = binding('urn:key:1');
    const ended = {
      keyId: 'urn:key:1',
      sequence: 1,
      recordedAt: '2026-02-01T00:00:00Z',
      revokedAt: '2026-02-01T00:00:00Z',
    };
    const { fault, registry } = fold(logOf(FIRST, { bindings: [one] }, { validity: [ended] }));
    expect(fault).toBeUndefined();
    expect(registry).toMatchObject({ revision: 3, size: 1, beginsUnsealed: false });
    const { keyId: _keyId, ...record } = ended;
    const held = { ...one, history: [record] };
    expect(registry.binding('urn:key:1')).toEqual(held);
    expect(registry.bindingOfPublicKey(one.publicKey)).toEqual(held);
    expect(registry.bindingsOf(AGENT as never)).toEqual([held]);
    expect(registry.binding('urn:key:2')).toBeUndefined();
    expect(registry.bindingsOf(service('authority') as never)).toEqual([]);
  });

  it.each([0, 1, 2, 3])(
    'MWP-SDV-008: entry %i altered, unsealed, left out or exchanged makes all of it unbelievable',
    (n) => {
      const log = logOf(
        FIRST,
        { bindings: [binding('urn:key:1')] },
        { bindings: [binding('urn:key:2')] },
        { policies: [] },
      );
      const without = log.filter((_, position) => position !== n);
      const altered = (change: Partial<RegistryEntry>) =>
        log.map((entry, position) => (position === n ? { ...entry, ...change } : entry));
      const entry = log[n] as RegistryEntry;
      for (const entries of [
        altered({ changes: entry.changes.replace(/.(?=.$)/, 'x') }),
        altered({ recordedAt: '2026-01-01T00:00:01.000Z' }),
        altered({ hash: entry.hash.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) }),
        altered({ seal: '' }),
        altered({ seal: seal(ORGANIZATION, entry.revision + 1, entry.hash) }),
        altered({ seal: seal('urn:example:organization:other', entry.revision, entry.hash) }),
        altered({ revision: entry.revision + 1 }),
        ...(n > 0 ? [altered({ hash: '', seal: '' })] : []),
        ...(n < 3 ? [without] : []),
        ...(n > 0 ? [[...log.slice(0, n - 1), log[n], log[n - 1], ...log.slice(n + 1)] as RegistryEntry[]] : []),
      ]) {
        expect(fold(entries).fault, JSON.stringify(entries[n])).toBeDefined();
      }
      expect(fold(log).fault).toBeUndefined();
    },
  );

  it('believes a chain that somebody else made only where nobody asks for the seal', () => {
    const forged = logOf(FIRST, { bindings: [binding('urn:key:1')] }).map((entry) => ({ ...entry, seal: '' }));
    expect(fold(forged).fault).toBe('revision 1 was not sealed by this service');
    expect(fold(forged, new Registry(ORGANIZATION)).fault).toBeUndefined();
  });

  it('begins without hash and seal where there was no log before, checks that content, and says so', () => {
    const [start] = logOf({ ...FIRST, bindings: [binding('urn:key:1')] }) as [RegistryEntry];
    const baseline = { ...start, revision: 7, hash: '', seal: '' };
    const later = { revision: 8, recordedAt: '2026-01-02T00:00:00.000Z', changes: '{}' };
    const hash = registryHash(ORGANIZATION, chainedHash(ORGANIZATION, baseline), later);
    const next = { ...later, hash, seal: seal(ORGANIZATION, 8, hash) };
    const { fault, registry } = fold([baseline, next]);
    expect(fault).toBeUndefined();
    expect(registry).toMatchObject({ revision: 8, beginsUnsealed: true });
    const changed = { ...baseline, changes: baseline.changes.replace('Ada', 'Eve') };
    expect(fold([changed, next]).fault).toBe('the chain breaks at revision 8');
    const weak = logOf({
      ...FIRST,
      bindings: [binding('urn:key:1', { publicKey: SMALL_ORDER_KEY })],
    })[0] as RegistryEntry;
    expect(fold([{ ...weak, hash: '', seal: '' }]).fault).toMatch(/public-key-not-in-prime-order-subgroup/);
    expect(fold([{ ...baseline, seal: 'x' }]).fault).toBe('the log begins at revision 7');
  });

  it('MWP-SDV-004a: a key id that stands twice is refused', () => {
    expect(faultOf({ bindings: [binding('urn:key:1')] }, { bindings: [binding('urn:key:1')] })).toMatch(
      /key-id-reused/,
    );
  });

  it('MWP-SDV-004c: a public key under a second key id, of the same principal or another, is refused', () => {
    const one = binding('urn:key:1');
    const alias = { ...one, keyId: 'urn:key:2' };
    expect(faultOf({ bindings: [one] }, { bindings: [alias] })).toMatch(/public-key-already-bound/);
    const others = {
      principals: [{ principal: service('b'), displayName: 'b' }],
      bindings: [{ ...alias, principal: service('b') }],
    };
    expect(faultOf({ bindings: [one] }, others)).toMatch(/public-key-already-bound/);
  });

  it('MWP-SDV-012a: a history with a gap, out of order, or of an unknown key is refused', () => {
    const one = binding('urn:key:1');
    const end = (sequence: number, recordedAt: string, keyId = 'urn:key:1') => ({
      validity: [{ keyId, sequence, recordedAt, revokedAt: '2026-02-01T00:00:00Z' }],
    });
    expect(faultOf({ bindings: [one] }, end(2, '2026-02-01T00:00:00Z'))).toMatch(/history-not-contiguous/);
    const [first, earlier] = [end(1, '2026-02-01T00:00:00Z'), end(2, '2026-01-31T00:00:00Z')];
    expect(faultOf({ bindings: [one] }, first, earlier)).toMatch(/history-not-append-ordered/);
    expect(faultOf({ bindings: [one] }, end(1, '2026-02-01T00:00:00Z', 'urn:key:9'))).toMatch(/unknown key/);
  });

  it('MWP-SDV-012b: an end that is postponed is refused', () => {
    const end = (sequence: number, revokedAt: string) => ({
      validity: [{ keyId: 'urn:key:1', sequence, recordedAt: '2026-02-01T00:00:00Z', revokedAt }],
    });
    const log = [{ bindings: [binding('urn:key:1')] }, end(1, '2026-02-01T00:00:00Z')];
    expect(faultOf(...log, end(2, '2026-02-02T00:00:00Z'))).toMatch(/revoked-at-postponed/);
    expect(faultOf(...log, end(2, '2026-01-31T00:00:00Z'))).toBeUndefined();
  });

  it('MWP-SDV-005b: without a seal the point of every key is checked, before any uniqueness', () => {
    const weak = binding('urn:key:1', { publicKey: SMALL_ORDER_KEY });
    const log = logOf(FIRST, { bindings: [weak] }, { bindings: [{ ...weak, keyId: 'urn:key:2' }] });
    expect(fold(log, new Registry(ORGANIZATION)).fault).toBe(
      'revision 2: binding urn:key:1: public-key-not-in-prime-order-subgroup',
    );
  });

  it('a principal that is not registered, a second Organization or policy, and what cannot be read are refused', () => {
    const stranger = { principal: service('stranger') };
    expect(faultOf({ bindings: [binding('urn:key:1', stranger)] })).toMatch(/principal-unknown/);
    expect(faultOf({ organization: FIRST.organization })).toMatch(/made twice/);
    const policy = { policies: [{ version: 1, document: '{}' }] };
    expect(faultOf(policy, policy)).toMatch(/policy 1 is made twice/);
    expect(faultOf({ bindings: [{ keyId: 'urn:key:1' }] })).toMatch(/cannot be read/);
    expect(faultOf({ unheardOf: [] })).toMatch(/cannot be read/);
    expect(fold(logOf({ principals: [] })).fault).toBe('the log is of no Organization');
    const foreign = { ...FIRST.organization, organizationId: 'urn:example:organization:other' };
    expect(fold(logOf({ ...FIRST, organization: foreign })).fault).toBe('the log is of no Organization');
  });
});
