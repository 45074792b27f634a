// Principals and their keys: register, list, add a key, end a key.
import { Hono, type Context } from 'hono';
import type { Logger } from '../../platform/logger.ts';
import { principalKey, samePrincipal } from '../../protocol/principals.ts';
import type { AuthorityStore, KeyBindingRow, KeyValidityRow, OrganizationRow } from '../../store/port.ts';
import { validateHistoryAppend } from '../../trust/bindings.ts';
import type { KeyWatch } from '../auth/key-watch.ts';
import { jsonBody } from '../bodies.ts';
import { fail } from '../errors.ts';
import { pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { idParameter, pageQuery } from '../parameters.ts';
import type { Directory } from '../tenancy.ts';
import { endBody, keyBody, principalBody } from './bodies.ts';
import { OPERATIONS } from './operations.ts';
import { organizationOf, registryRefusal, registryRevisionOf } from './outcomes.ts';
import { register, type KeyWish } from './registration.ts';

export interface PrincipalParts {
  store: AuthorityStore;
  directory: Directory;
  keys: KeyWatch;
  logger: Logger;
}

export function principalRoutes(parts: PrincipalParts): Hono {
  const { store, directory } = parts;
  const { organizations } = store;
  const routes = new Hono();

  routes.post(
    '/organizations/:slug/principals',
    declared(OPERATIONS.registerPrincipal, async (c) => {
      const { organizationId } = await organizationOf(c, directory);
      const { principal, displayName: name, keys } = await jsonBody(c, principalBody);
      const row = { principal, displayName: name };
      const done = await register(organizations, organizationId, principal, keys.map(wishOf), row);
      const answer = { ...row, keys: done.keys.map(shownKey), registryRevision: done.registryRevision };
      return c.json(answer, 201);
    }),
  );

  routes.get(
    '/organizations/:slug/principals',
    declared(OPERATIONS.listPrincipals, async (c) => {
      const { organizationId } = await organizationOf(c, directory);
      const { after, limit } = pageQuery(c);
      const rows = await organizations.principals(organizationId, after ?? '', limit + 1);
      const looked = rows.slice(0, limit);
      const items = looked.map((row) => JSON.stringify(row));
      const last = looked.at(-1);
      return pageText(c, rows.length > limit && last ? { items, next: principalKey(last.principal) } : { items });
    }),
  );

  routes.post(
    '/organizations/:slug/keys',
    declared(OPERATIONS.addKey, async (c) => {
      const { organizationId } = await organizationOf(c, directory);
      const { principal, ...wish } = await jsonBody(c, keyBody);
      const { keys, registryRevision } = await register(organizations, organizationId, principal, [wishOf(wish)]);
      return c.json({ ...keys.map(shownKey)[0], registryRevision }, 201);
    }),
  );

  routes.post(
    '/organizations/:slug/keys/:keyId/end',
    declared(OPERATIONS.endKey, async (c) => endKey(c, parts)),
  );
  return routes;
}

async function endKey(c: Context, { store, directory, keys, logger }: PrincipalParts): Promise<Response> {
  const organization = await organizationOf(c, directory);
  const { organizationId } = organization;
  const keyId = idParameter(c, 'keyId');
  if (keyId === undefined) throw registryRefusal('key_unknown');
  const ends = await jsonBody(c, endBody);
  const { organizations } = store;
  const found = (await organizations.keyEvidence(organizationId, [keyId])).get(keyId);
  if (!found?.binding) throw registryRefusal('key_unknown');
  if (isOwnService(organization, found.binding)) {
    // Its Events must stay provable, and without the key nothing could be accepted until another one is made.
    throw fail('INVALID_COMMAND', "a key of the Organization's own services is replaced (rotate-key), never ended");
  }
  const row: KeyValidityRow = { keyId, recordedAt: await organizations.now(), ...withoutAbsent(ends) };
  const next = { ...row, sequence: found.validity.length + 1 };
  const fault = validateHistoryAppend({ ...found.binding, history: found.validity }, next);
  if (fault === 'valid-until-postponed' || fault === 'revoked-at-postponed')
    throw registryRefusal('validity_not_earlier');
  if (fault !== undefined) throw fail('INVALID_COMMAND', `the key cannot be ended so: ${fault}`);
  const registryRevision = registryRevisionOf(await organizations.changeRegistry(organizationId, { validity: [row] }));
  keys.forget(organizationId, keyId);
  logger.info({ tenant: organizationId, keyId }, 'the validity of a key was ended');
  return c.json({ keyId, ...withoutAbsent(ends), registryRevision });
}

function isOwnService({ authority, identity, registrar }: OrganizationRow, { principal }: KeyBindingRow): boolean {
  return [authority, identity, registrar].some((service) => samePrincipal(service, principal));
}

function wishOf({ keyId, publicKey, validFrom }: { keyId: string; publicKey: string; validFrom?: string | undefined }) {
  return { keyId, publicKey, ...(validFrom !== undefined && { validFrom }) } satisfies KeyWish;
}

function withoutAbsent({ validUntil, revokedAt }: { validUntil?: string | undefined; revokedAt?: string | undefined }) {
  return { ...(validUntil !== undefined && { validUntil }), ...(revokedAt !== undefined && { revokedAt }) };
}

function shownKey({ keyId, principal, publicKey, validFrom }: KeyBindingRow) {
  return { keyId, principal, publicKey, validFrom };
}
