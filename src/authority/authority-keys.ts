// With which of its keys the authority signs: the one that counts at the moment of the Event, as the Registry has it at the
// revision that stands under the locks. So no Event is ever signed under a key that had ended, whoever rotated it.
import { keyStatusAt, latestFirst } from '../trust/evidence.ts';
import type { Registry } from '../trust/registry.ts';
import type { Signer } from '../trust/signing.ts';
import type { OrganizationRow } from '../store/port.ts';
import type { TenantSigners } from './ports.ts';

/** The one that counts and the one that will, or that did a moment ago. */
const OPENED_MAXIMUM = 2;

export interface AuthorityKeys {
  readonly registryRevision: number;
  /** Throws where no key counts: without one nothing can be accepted. */
  signerAt(time: string): Signer;
}

export async function authorityKeys(
  organization: OrganizationRow,
  registry: Registry,
  signers: TenantSigners,
): Promise<AuthorityKeys> {
  const { authority } = organization;
  // Taken together: the Registry moves on by itself.
  const { revision: registryRevision } = registry;
  const latest = latestFirst(registry.bindingsOf(authority)).slice(0, OPENED_MAXIMUM);
  const opened = await Promise.all(
    latest.map(async (binding) => ({
      binding,
      signer: await signers.signer(organization, binding.keyId),
    })),
  );
  return {
    registryRevision,
    signerAt(time) {
      const found = opened.find(({ binding, signer }) => signer && keyStatusAt(binding, time) === 'valid');
      if (!found?.signer) throw new Error(`no valid key of the service ${authority.id}`);
      return found.signer;
    },
  };
}
