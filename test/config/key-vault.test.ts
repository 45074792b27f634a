// Keys at rest: the master key file, sealing, and the signers of a tenant's services.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newOrganization } from '../../src/http/operator/new-organization.ts';
import { KeyVault, UnsealFault } from '../../src/platform/key-vault.ts';
import { decodeMasterKey, localMasterKey, MasterKeyFault } from '../../src/platform/master-key.ts';
import { VaultSigners } from '../../src/platform/tenant-signers.ts';
import type { OrganizationStore } from '../../src/store/port.ts';
import { importPublicKey, nativeVerify } from '../../src/trust/ed25519.ts';

const PLACE = { organizationId: 'urn:test:organization:1', keyId: 'urn:test:key:1' };

describe('the vault', () => {
  const vault = new KeyVault(Buffer.alloc(32, 1));
  const seed = randomBytes(32);

  it('opens what it sealed, and two seals of the same key differ', () => {
    const [first, second] = [vault.seal(seed, PLACE), vault.seal(seed, PLACE)];
    expect(first).not.toBe(second);
    for (const sealed of [first, second]) expect(Buffer.from(vault.open(sealed, PLACE))).toEqual(seed);
    expect(first).not.toContain(seed.toString('base64url'));
  });

  it('opens nothing that was altered in any character, cut, or moved to another key or tenant', () => {
    const sealed = vault.seal(seed, PLACE);
    for (let position = 0; position < sealed.length; position += 1) {
      const other = sealed[position] === 'A' ? 'B' : 'A';
      const altered = sealed.slice(0, position) + other + sealed.slice(position + 1);
      expect(() => vault.open(altered, PLACE)).toThrow(UnsealFault);
    }
    for (const text of [
      '',
      'v1',
      'v1..',
      sealed.slice(0, -1),
      `${sealed}A`,
      `${sealed}.A`,
      sealed.replace('v1', 'v2'),
    ]) {
      expect(() => vault.open(text, PLACE)).toThrow(UnsealFault);
    }
    expect(() => vault.open(sealed, { ...PLACE, keyId: 'urn:test:key:2' })).toThrow(UnsealFault);
    expect(() => vault.open(sealed, { ...PLACE, organizationId: 'urn:test:organization:2' })).toThrow(UnsealFault);
    expect(() => new KeyVault(Buffer.alloc(32, 2)).open(sealed, PLACE)).toThrow(/MWP_MASTER_KEY/);
  });

  it('derives one key for each purpose and tenant, the same in every process', () => {
    const hex = (...args: Parameters<KeyVault['subkey']>) => Buffer.from(vault.subkey(...args)).toString('hex');
    const keys = [
      hex('seal', 'urn:a:1'),
      hex('token', 'urn:a:1'),
      hex('challenge', 'urn:a:1'),
      hex('token', 'urn:a:2'),
    ];
    expect(new Set(keys).size).toBe(4);
    const another = new KeyVault(Buffer.alloc(32, 1)).subkey('token', 'urn:a:1');
    expect(Buffer.from(another).toString('hex')).toBe(keys[1]);
  });
});

describe('the master key of a local start', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-key-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is made once, with mode 0600 in a folder of mode 0700, and read from then on', () => {
    const data = join(folder, 'data');
    const first = localMasterKey(data);
    expect(first).toHaveLength(32);
    expect(localMasterKey(data)).toEqual(first);
    expect(statSync(join(data, 'master.key')).mode & 0o777).toBe(0o600);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(decodeMasterKey(readFileSync(join(data, 'master.key'), 'utf8'))).toEqual(first);
  });

  it('is refused when others can read it or when it is no key', () => {
    localMasterKey(folder);
    const file = join(folder, 'master.key');
    chmodSync(file, 0o644);
    expect(() => localMasterKey(folder)).toThrow(MasterKeyFault);
    chmodSync(file, 0o600);
    writeFileSync(file, 'not a key');
    expect(() => localMasterKey(folder)).toThrow(/does not hold 32 bytes/);
  });
});

describe("a tenant's signers", () => {
  const now = '2026-11-29T12:00:00.000Z';
  const vault = new KeyVault(Buffer.alloc(32, 1));
  const made = newOrganization({ slug: 'acme', displayName: 'Acme' }, vault, now);
  const { organization, bindings, sealedKeys } = made;

  function signers(more: Partial<Record<'revokedAt', string>> = {}, sealed = sealedKeys) {
    let asked = 0;
    const organizations = {
      sealedKeys: async () => ((asked += 1), sealed),
      now: async () => now,
      keyEvidence: async (_: string, keyIds: string[]) =>
        new Map(
          keyIds.map((keyId) => [
            keyId,
            {
              registryRevision: 1,
              binding: bindings.find((binding) => binding.keyId === keyId),
              validity: more.revokedAt ? [{ keyId, sequence: 1, recordedAt: now, revokedAt: more.revokedAt }] : [],
            },
          ]),
        ),
    } as unknown as OrganizationStore;
    return { signers: new VaultSigners(organizations, vault), asked: () => asked };
  }

  it('sign as the service they are asked for, and open each key once', async () => {
    const under = signers();
    const message = Buffer.from('a message');
    for (const service of [
      organization.authority,
      organization.identity,
      organization.registrar,
      organization.authority,
    ]) {
      const signer = await under.signers.signerOf(organization, service, now);
      const binding = bindings.find(({ keyId }) => keyId === signer.keyId);
      expect(binding?.principal).toEqual(service);
      const key = importPublicKey(binding?.publicKey ?? '');
      if (!key.ok) throw new Error('unusable key');
      expect(await nativeVerify(key.key, signer.sign(message), message)).toBe(true);
    }
    expect(under.asked()).toBe(3);
  });

  it('throw where no key is valid, is there, or opens', async () => {
    const { authority } = organization;
    await expect(signers({ revokedAt: now }).signers.signerOf(organization, authority, now)).rejects.toThrow(
      /no valid key/,
    );
    await expect(signers({}, []).signers.signerOf(organization, authority, now)).rejects.toThrow(/no valid key/);
    const spoiled = sealedKeys.map((row) => ({ ...row, sealed: row.sealed.slice(0, -4) + 'AAAA' }));
    await expect(signers({}, spoiled).signers.signerOf(organization, authority, now)).rejects.toThrow(UnsealFault);
  });
});
