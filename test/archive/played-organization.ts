// A small Organization with a row in every table that transitions write and in which verification has something to find:
// two Groups that one Agent works in, texts, embedded documents, policy entries, a replaced session and its revoked leases.
import { randomBytes } from 'node:crypto';
import { KeyVault } from '../../src/platform/key-vault.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

export interface PlayedOrganization {
  tenant: Tenant;
  vault: KeyVault;
  mission: Mission;
  /** Its owner cancels it. */
  other: Mission;
}

export async function playOrganization(store: AuthorityStore): Promise<PlayedOrganization> {
  const vault = new KeyVault(randomBytes(32));
  const tenant = await Tenant.create(store, { vault });
  const owner = await tenant.human('olga');
  const [coordinator, worker] = [await tenant.agent('coordinator'), await tenant.agent('worker')];
  const mission = await Mission.create(tenant, owner, coordinator);
  await mission.join(worker);
  await mission.finish(worker, await mission.active(worker));
  const other = await Mission.create(tenant, owner, coordinator);
  await other.join(worker);
  await mission.active(worker);
  await other.active(worker);
  await tenant.openSession(worker);
  await other.accept(owner, 'mission.cancel', { reason: 'no longer needed' });
  return { tenant, vault, mission, other };
}

/** As small as one can be that has a row in every table: for thousands of verifications. */
export async function playSmallOrganization(
  store: AuthorityStore,
): Promise<Omit<PlayedOrganization, 'mission' | 'other'>> {
  const vault = new KeyVault(randomBytes(32));
  const tenant = await Tenant.create(store, { vault });
  const coordinator = await tenant.agent('coordinator');
  const mission = await Mission.create(tenant, await tenant.human('olga'), coordinator);
  await mission.authorize();
  return { tenant, vault };
}
