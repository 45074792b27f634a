// What a new Organization consists of: three services of its own with fresh keys sealed under the master key, and the
// default policy with just the rights that these services need.
import { randomUUID } from 'node:crypto';
import { DEFAULT_POLICY, type Policy, type ServiceRights } from '../../domain/policy.ts';
import type { KeyVault } from '../../platform/key-vault.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { Principal } from '../../protocol/principals.ts';
import type { KeyBindingRow, NewOrganization, SealedKeyRow } from '../../store/port.ts';
import { SESSION_OPEN_KIND } from '../auth/sessions.ts';
import { newServiceKey, SERVICES, type Service } from './service-keys.ts';

export const AGENT_CARD_REGISTER_KIND = 'ext.missionweaveprotocol.registry.agent_card_register';

export interface OrganizationWish {
  slug: string;
  displayName: string;
  /** Absent: a fresh one. */
  organizationId?: string;
}

const SERVICE_NAMES: Readonly<Record<Service, string>> = {
  authority: 'Group Authority',
  identity: 'Identity service',
  registrar: 'Agent registrar',
};

/** `now`: also the beginning of the keys' validity. */
export function newOrganization(wish: OrganizationWish, vault: KeyVault, now: string): NewOrganization {
  const organizationId = (wish.organizationId ?? `urn:mwp:organization:${randomUUID()}`) as OrganizationId;
  const principals = Object.fromEntries(
    SERVICES.map((service) => [service, { type: 'service', id: `${organizationId}:service:${service}` }]),
  ) as Record<Service, Principal>;
  const bindings: KeyBindingRow[] = [];
  const sealedKeys: SealedKeyRow[] = [];
  for (const service of SERVICES) {
    const principal = principals[service];
    const made = newServiceKey({ organizationId, service, principal, number: 1 }, vault, { validFrom: now });
    bindings.push(made.binding);
    sealedKeys.push(made.sealed);
  }
  const { slug, displayName } = wish;
  return {
    organization: { organizationId, slug, displayName, createdAt: now, ...principals },
    principals: SERVICES.map((service) => ({ principal: principals[service], displayName: SERVICE_NAMES[service] })),
    bindings,
    sealedKeys,
    policy: { ...structuredClone(DEFAULT_POLICY), services: requiredRights(principals) } satisfies Policy,
  };
}

/** Without these no session opens and no Card is registered, so no policy may drop them. */
export function requiredRights({ identity, registrar }: Pick<Record<Service, Principal>, 'identity' | 'registrar'>) {
  return [
    { serviceId: identity.id, kinds: [SESSION_OPEN_KIND], relay: false },
    { serviceId: registrar.id, kinds: [AGENT_CARD_REGISTER_KIND], relay: false },
  ] satisfies ServiceRights[];
}
