// The private keys of the tenants' own services: opened from the vault when first needed, kept in memory within a bound.
// Nothing else in the process sees one; what leaves here can only sign.
import type { Principal } from '../protocol/principals.ts';
import { principalKey, samePrincipal } from '../protocol/principals.ts';
import type { TenantSigners } from '../authority/ports.ts';
import type { OrganizationRow, OrganizationStore, SealedKeyRow } from '../store/port.ts';
import { keyStatusAt, latestFirst, type KeyBinding } from '../trust/evidence.ts';
import { signerFromSeed, type Signer } from '../trust/signing.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { KeyVault } from './key-vault.ts';

/** Signers kept per process: three services of a thousand busy tenants, about 1 kB each. */
const CACHE_MAXIMUM = 3_000;
/** Milliseconds that the found keys of a service stand. A rotation takes effect later, so that the successor is known in time. */
export const KEPT_MILLISECONDS = 5_000;

type ServiceKey = KeyBinding & { readonly row: SealedKeyRow };

export class VaultSigners implements TenantSigners {
  /** By key id, which for ever means one key. */
  private readonly opened = new BoundedCache<Signer>(CACHE_MAXIMUM);
  /** Of a service, latest first: those that count and one that is about to. */
  private readonly found = new BoundedCache<{ keys: readonly ServiceKey[]; foundAt: number }>(CACHE_MAXIMUM);
  private readonly organizations: OrganizationStore;
  private readonly vault: KeyVault;

  constructor(organizations: OrganizationStore, vault: KeyVault) {
    this.organizations = organizations;
    this.vault = vault;
  }

  /** Throws UnsealFault. */
  async signer(organization: OrganizationRow, keyId: string): Promise<Signer | undefined> {
    const known = this.opened.get(`${organization.organizationId} ${keyId}`);
    if (known) return known;
    const sealed = await this.organizations.sealedKeys(organization.organizationId);
    const row = sealed.find((candidate) => candidate.keyId === keyId);
    return row && this.open(organization, row);
  }

  /**
   * Judged at the time of what is signed, whenever the keys were found: a choice that is kept would outlive a rotation.
   * Throws when the service has no key that is valid then, or when it does not open (UnsealFault).
   */
  async signerOf(organization: OrganizationRow, service: Principal, time: string): Promise<Signer> {
    const keys = await this.keysOf(organization, service);
    const latest = keys.find((key) => keyStatusAt(key, time) === 'valid');
    if (!latest) throw new Error(`no valid key of the service ${service.id}`);
    return this.open(organization, latest.row);
  }

  private open({ organizationId }: OrganizationRow, { keyId, sealed }: SealedKeyRow): Signer {
    const cacheKey = `${organizationId} ${keyId}`;
    const known = this.opened.get(cacheKey);
    if (known) return known;
    const seed = this.vault.open(sealed, { organizationId, keyId });
    const signer = signerFromSeed(keyId, seed);
    seed.fill(0);
    this.opened.set(cacheKey, signer);
    return signer;
  }

  private async keysOf({ organizationId }: OrganizationRow, service: Principal): Promise<readonly ServiceKey[]> {
    const cacheKey = `${organizationId} ${principalKey(service)}`;
    const known = this.found.get(cacheKey);
    const foundAt = performance.now();
    if (known && foundAt - known.foundAt < KEPT_MILLISECONDS) return known.keys;
    const sealed = await this.organizations.sealedKeys(organizationId);
    const own = sealed.filter(({ principal }) => samePrincipal(principal, service));
    const evidence = await this.organizations.keyEvidence(
      organizationId,
      own.map(({ keyId }) => keyId),
    );
    const bound = own.flatMap((row) => {
      const key = evidence.get(row.keyId);
      return key?.binding ? [{ ...key.binding, history: key.validity, row }] : [];
    });
    // Those of former times are let go of: a service that is rotated daily has many.
    const now = await this.organizations.now();
    const keys = latestFirst(bound).filter((key) => ['valid', 'not-yet-valid'].includes(keyStatusAt(key, now)));
    this.found.set(cacheKey, { keys, foundAt });
    return keys;
  }
}
