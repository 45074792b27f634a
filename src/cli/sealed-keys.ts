// The private keys of an Organization's own services: each opens under the master key, is the one that is bound, and belongs
// to the Principal that the binding names; and each service has one.
import type { KeyVault } from '../platform/key-vault.ts';
import { samePrincipal } from '../protocol/principals.ts';
import type { KeyEvidenceRow, OrganizationRow, OrganizationStore, SealedKeyRow } from '../store/port.ts';
import { publicKeyFromSeed } from '../trust/signing.ts';

export interface SealedKeysReport {
  sentences: string[];
  /** How many there are and opened. */
  told: string;
}

export async function verifySealedKeys(
  organizations: Pick<OrganizationStore, 'sealedKeys' | 'keyEvidence'>,
  organization: OrganizationRow,
  vault: KeyVault | undefined,
): Promise<SealedKeysReport> {
  const { organizationId, authority, identity, registrar } = organization;
  const keys = await organizations.sealedKeys(organizationId);
  const bound = await organizations.keyEvidence(
    organizationId,
    keys.map(({ keyId }) => keyId),
  );
  const sentences: string[] = [];
  for (const key of keys) {
    const fault = bindingFault(key, bound.get(key.keyId));
    if (fault !== undefined) sentences.push(`sealed_keys: ${key.keyId} ${fault}`);
  }
  for (const service of [authority, identity, registrar]) {
    if (keys.some(({ principal }) => samePrincipal(principal, service))) continue;
    sentences.push(`sealed_keys: the service ${service.id} has none`);
  }
  if (!vault) return { sentences, told: `${keys.length} keys not tried: no master key is set` };
  const unopened = keys.flatMap((key) => openingFault(key, organizationId, bound.get(key.keyId), vault) ?? []);
  const told = `${keys.length - unopened.length} of ${keys.length} keys open`;
  return { sentences: [...sentences, ...unopened], told };
}

function bindingFault({ principal }: SealedKeyRow, bound: KeyEvidenceRow | undefined): string | undefined {
  if (!bound?.binding) return 'is bound to nobody';
  return samePrincipal(bound.binding.principal, principal) ? undefined : 'is bound to another Principal';
}

function openingFault(
  { keyId, sealed }: SealedKeyRow,
  organizationId: string,
  bound: KeyEvidenceRow | undefined,
  vault: KeyVault,
): string | undefined {
  try {
    const seed = vault.open(sealed, { organizationId, keyId });
    const publicKey = publicKeyFromSeed(seed);
    seed.fill(0);
    if (!bound?.binding || bound.binding.publicKey === publicKey) return undefined;
    return `sealed_keys: ${keyId} holds another key than the one that is bound`;
  } catch (error) {
    return (error as Error).message;
  }
}
