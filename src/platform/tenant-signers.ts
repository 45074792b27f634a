// The private keys of the tenants' own services: opened from the vault when first needed, kept in memory within a bound.
// Nothing else in the process sees one; what leaves here can only sign.
import type { Principal } from '../protocol/principals.ts';
import { principalKey, samePrincipal } from '../protocol/principals.ts';
import type { TenantSigners } from '../authority/ports.ts';
import type { OrganizationRow, OrganizationStore, SealedKeyRow } from '../store/port.ts';
import { keyStatusAt, latestFirst } from '../trust/evidence.ts';
import { signerFromSeed, type Signer } from '../trust/signing.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { KeyVault } from './key-vault.ts';

/** Signers kept per process: three services of a thousand busy tenants, about 1 kB each. */
const CACHE_MAXIMUM = 3_000;
/** Milliseconds that a choice among the keys of a service stands. A rotation takes effect later than that. */
export const CHOICE_MILLISECONDS = 5_000;

export class VaultSigners implements TenantSigners {
  /** By key id, which for ever means one key. */
  private readonly opened = new BoundedCache<Signer>(CACHE_MAXIMUM);
  private readonly chosen = new BoundedCache<{ signer: Signer; madeAt: number }>(CACHE_MAXIMUM);
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

  /** Throws when the service has no key that is valid now, or when it does not open (UnsealFault). */
  async signerOf(organization: OrganizationRow, service: Principal): Promise<Signer> {
    const cacheKey = `${organization.organizationId} ${principalKey(service)}`;
    const choice = this.chosen.get(cacheKey);
    const madeAt = performance.now();
    if (choice && madeAt - choice.madeAt < CHOICE_MILLISECONDS) return choice.signer;
    const signer = this.open(organization, await this.currentKey(organization, service));
    this.chosen.set(cacheKey, { signer, madeAt });
    return signer;
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

  /** The valid key that began last. */
  private async currentKey({ organizationId }: OrganizationRow, service: Principal): Promise<SealedKeyRow> {
    const sealed = await this.organizations.sealedKeys(organizationId);
    const own = sealed.filter(({ principal }) => samePrincipal(principal, service));
    const evidence = await this.organizations.keyEvidence(
      organizationId,
      own.map(({ keyId }) => keyId),
    );
    const now = await this.organizations.now();
    const bound = own.flatMap((row) => {
      const found = evidence.get(row.keyId);
      return found?.binding ? [{ ...found.binding, history: found.validity, row }] : [];
    });
    const latest = latestFirst(bound).find((binding) => keyStatusAt(binding, now) === 'valid');
    if (!latest) throw new Error(`no valid key of the service ${service.id}`);
    return latest.row;
  }
}
