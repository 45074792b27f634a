// The tenant's own key, under which the data keys of its sealed audits are wrapped: random, stored sealed under the master
// key, by version. Who destroys its row destroys all that is wrapped under it.
import { randomBytes } from 'node:crypto';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { SealedAuditStore, TenantKeyRow } from '../../store/port/sealed-audits.ts';
import { KEY_BYTES } from './envelope.ts';
import type { TenantKeyVault } from './ports.ts';

/** No key id of a service: those are URIs, which hold no blank. */
function placeOf(organizationId: string, version: number) {
  return { organizationId, keyId: `tenant key ${version}` };
}

/** The latest one; made when the Organization has none. */
export async function currentTenantKey(
  store: Pick<SealedAuditStore, 'tenantKey'>,
  vault: TenantKeyVault,
  organizationId: OrganizationId,
): Promise<{ version: number; key: Uint8Array }> {
  const row = await store.tenantKey(organizationId, (version) =>
    vault.seal(randomBytes(KEY_BYTES), placeOf(organizationId, version)),
  );
  return { version: row.version, key: openTenantKey(vault, organizationId, row) };
}

/** Throws where the master key is another one, or the row was changed. */
export function openTenantKey(
  vault: Pick<TenantKeyVault, 'open'>,
  organizationId: string,
  row: TenantKeyRow,
): Uint8Array {
  return vault.open(row.sealed, placeOf(organizationId, row.version));
}
