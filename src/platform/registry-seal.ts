// The mark of this service on each entry of a Registry's log: a MAC under a subkey of the master key. Who can write to the
// database but does not hold the master key can add no signer to an Organization.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SealRegistry } from '../store/port.ts';
import type { CheckSeal } from '../trust/registry.ts';
import { encodeBase64url } from '../wire/base64url.ts';
import type { KeyVault } from './key-vault.ts';

export function registrySeal(vault: KeyVault): { seal: SealRegistry; check: CheckSeal } {
  const seal: SealRegistry = (organizationId, revision, hash) => {
    const mac = createHmac('sha256', vault.subkey('registry', organizationId)).update(`${revision} ${hash}`);
    return encodeBase64url(mac.digest());
  };
  const check: CheckSeal = (organizationId, revision, hash, found) => {
    const expected = Buffer.from(seal(organizationId, revision, hash));
    const given = Buffer.from(found);
    return expected.length === given.length && timingSafeEqual(expected, given);
  };
  return { seal, check };
}
