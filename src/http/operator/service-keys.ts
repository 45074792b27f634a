// Keys of the Organization's own services: made here, sealed under the master key, and replaced by a successor.
import { Hono } from 'hono';
import type { KeyVault } from '../../platform/key-vault.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { Principal } from '../../protocol/principals.ts';
import { compareTimestamps, millisFromTimestamp, timestampFromMillis } from '../../protocol/timestamps.ts';
import type { AuthorityStore, KeyBindingRow, OrganizationRow, SealedKeyRow } from '../../store/port.ts';
import { keyStatusAt, type KeyBinding } from '../../trust/evidence.ts';
import { generateKeyPair } from '../../trust/signing.ts';
import { fail } from '../errors.ts';
import { declared } from '../openapi/operation.ts';
import type { Directory } from '../tenancy.ts';
import { OPERATIONS } from './operations.ts';
import { organizationOf, registryRevisionOf } from './outcomes.ts';

export const SERVICES = ['authority', 'identity', 'registrar'] as const;
export type Service = (typeof SERVICES)[number];

/**
 * Milliseconds until a new key counts and the old one ends: longer than any process keeps the keys that it found
 * (platform/tenant-signers.ts), so that everybody knows the new one when it begins to count.
 */
export const ROTATION_MILLISECONDS = 10_000;

export interface ServiceKeyParts {
  store: AuthorityStore;
  directory: Directory;
  vault: KeyVault;
  logger: Logger;
}

export function serviceKeyRoutes(parts: ServiceKeyParts): Hono {
  const routes = new Hono();
  routes.post(
    '/organizations/:slug/services/:service/rotate-key',
    declared(OPERATIONS.rotateServiceKey, async (c) => {
      const organization = await organizationOf(c, parts.directory);
      const service = SERVICES.find((name) => name === c.req.param('service'));
      if (!service) throw fail('INVALID_COMMAND', `a service is one of ${SERVICES.join(', ')}`);
      return c.json(await rotate(parts, organization, service), 201);
    }),
  );
  return routes;
}

/** Signed documents stay provable: the old key counts for what it signed until the moment that the new one takes over. */
async function rotate({ store, vault, logger }: ServiceKeyParts, organization: OrganizationRow, service: Service) {
  const { organizationId } = organization;
  const { organizations } = store;
  const principal = organization[service];
  const now = await organizations.now();
  const validFrom = timestampFromMillis(millisFromTimestamp(now) + ROTATION_MILLISECONDS);
  const known = await bindingsOf(store, organization, principal);
  const ended = known.filter((binding) => keyStatusAt(binding, validFrom) === 'valid').map(({ keyId }) => keyId);
  const isUnderWay = known.some((binding) => compareTimestamps(binding.validFrom, now) > 0);
  if (isUnderWay) throw fail('INVALID_STATE_TRANSITION', 'a new key of this service is about to count already');
  const { binding, sealed } = newServiceKey({ organizationId, service, principal, number: known.length + 1 }, vault, {
    validFrom,
  });
  const outcome = await organizations.changeRegistry(organizationId, {
    bindings: [binding],
    sealedKeys: [sealed],
    validity: ended.map((keyId) => ({ keyId, recordedAt: now, validUntil: validFrom })),
    takesEffectAt: validFrom,
  });
  const registryRevision = registryRevisionOf(outcome);
  const { keyId, publicKey } = binding;
  logger.info({ tenant: organizationId, keyId, validFrom }, 'a key of a service was replaced');
  return { keyId, principal, publicKey, validFrom, ended, registryRevision };
}

async function bindingsOf(
  { organizations }: AuthorityStore,
  { organizationId }: OrganizationRow,
  principal: Principal,
): Promise<KeyBinding[]> {
  const rows = await organizations.bindings(organizationId, principal);
  const evidence = await organizations.keyEvidence(
    organizationId,
    rows.map(({ keyId }) => keyId),
  );
  return rows.map((row) => ({ ...row, history: evidence.get(row.keyId)?.validity ?? [] }));
}

export interface NewServiceKey {
  organizationId: OrganizationId;
  service: Service;
  principal: Principal;
  /** From 1. */
  number: number;
}

export function newServiceKey(
  { organizationId, service, principal, number }: NewServiceKey,
  vault: KeyVault,
  { validFrom }: { validFrom: string },
): { binding: KeyBindingRow; sealed: SealedKeyRow } {
  const keyId = `${organizationId}:key:${service}:${number}`;
  const { seed, publicKey } = generateKeyPair();
  const sealed = vault.seal(seed, { organizationId, keyId });
  seed.fill(0);
  return {
    binding: { keyId, principal, algorithm: 'Ed25519', publicKey, validFrom },
    sealed: { keyId, principal, sealed },
  };
}
