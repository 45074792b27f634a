// With which of its keys the authority signs: the one that counts at the moment of the Event, as the Registry has it at the
// revision that stands under the locks. So no Event is ever signed under a key that had ended, whoever rotated it.
import { compareTimestamps } from '../protocol/timestamps.ts';
import { keyStatusAt } from '../trust/evidence.ts';
import type { Signer } from '../trust/signing.ts';
import type { OrganizationRow } from '../store/port.ts';
import type { TenantSigners } from './ports.ts';
import type { StoreEvidence } from './registry-evidence.ts';

/** The one that counts and the one that will, or that did a moment ago. */
const OPENED_MAXIMUM = 2;

export interface AuthorityKeys {
  readonly registryRevision: number;
  /** Throws where no key counts: without one nothing can be accepted. */
  signerAt(time: string): Signer;
}

export async function authorityKeys(
  organization: OrganizationRow,
  evidence: StoreEvidence,
  signers: TenantSigners,
): Promise<AuthorityKeys> {
  const { organizationId, authority } = organization;
  const { registryRevision, bindings } = await evidence.bindingsOf(organizationId, authority);
  const latestFirst = bindings.toSorted((a, b) => compareTimestamps(b.validFrom, a.validFrom));
  const opened = await Promise.all(
    latestFirst.slice(0, OPENED_MAXIMUM).map(async (binding) => ({
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
