// POST /auth/challenge, /auth/token, /auth/refresh.
import { Hono, type Context } from 'hono';
import type { Authority, TenantSigners } from '../../authority/ports.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Principal } from '../../protocol/principals.ts';
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { AuthorityStore, OrganizationRow } from '../../store/port.ts';
import { jsonBody, limitBody, LOGIN_BODY_MAXIMUM } from '../bodies.ts';
import { authRequired, fail, HttpRefusal, loginRefused } from '../errors.ts';
import { declared } from '../openapi/operation.ts';
import type { Turns } from '../turns.ts';
import { bearerOf, decoyOrganizationId, type Authentication, type TenantEnv } from '../tenancy.ts';
import type { Challenges } from './challenges.ts';
import { logIn } from './login.ts';
import { CHALLENGE, challengeBody, REFRESH, TOKEN, tokenBody } from './operations.ts';
import { openSession } from './sessions.ts';
import { mayRefresh } from './tokens.ts';

export interface AuthParts extends Authentication {
  store: AuthorityStore;
  authority: Authority;
  signers: TenantSigners;
  challenges: Challenges;
  logger: Logger;
  turns: Turns;
}

export function authRoutes(parts: AuthParts): Hono<TenantEnv> {
  const { store, directory, challenges } = parts;
  const routes = new Hono<TenantEnv>();
  routes.use(limitBody(LOGIN_BODY_MAXIMUM));

  routes.post(
    '/challenge',
    declared(CHALLENGE, async (c) => {
      const request = await jsonBody(c, challengeBody);
      const slug = slugOf(c);
      const organization = await directory.lookUp(slug);
      const organizationId = organization?.organizationId ?? decoyOrganizationId(slug);
      return c.json(challenges.issue(organizationId, request, await store.organizations.now()));
    }),
  );

  routes.post(
    '/token',
    declared(TOKEN, async (c) => {
      const { principal, challenge, challengeSignature, openSession: wantsSession } = await jsonBody(c, tokenBody);
      const organization = await directory.lookUp(slugOf(c));
      const { keys, logger, turns } = parts;
      const attempt = { principal, challenge, challengeSignature };
      const lane = `login ${organization?.organizationId ?? ''}`;
      const loggedIn = await logIn(
        { organizations: store.organizations, challenges, keys, turns, lane },
        organization,
        attempt,
      );
      if (!loggedIn || !organization) {
        logger.info({ tenant: organization?.organizationId }, 'a login was refused');
        throw loginRefused();
      }
      const sessionEpoch = wantsSession ? await openedEpoch(parts, organization, principal) : undefined;
      const now = millisFromTimestamp(await store.organizations.now());
      const { organizationId, slug } = organization;
      const bearer = { organizationId, slug, ...loggedIn, signedInAt: now };
      const issued = await parts.tokens.issue(bearer, now);
      return c.json(tokenAnswer(issued, principal, sessionEpoch));
    }),
  );

  routes.post(
    '/refresh',
    declared(REFRESH, async (c) => {
      const { bearer } = await bearerOf(c, parts);
      // From the database, not from memory: a refresh is rare and prolongs what a revoked key could do.
      const stillValid = await parts.keys.validBinding(bearer);
      const now = millisFromTimestamp(await store.organizations.now());
      if (!stillValid || !mayRefresh(bearer, now)) throw authRequired();
      return c.json(tokenAnswer(await parts.tokens.issue(bearer, now), bearer.principal));
    }),
  );
  return routes;
}

async function openedEpoch(parts: AuthParts, organization: OrganizationRow, principal: Principal): Promise<number> {
  const { store, authority, signers } = parts;
  const session = { organizations: store.organizations, authority, signers };
  const opening = await openSession(session, organization, principal.id);
  if (opening.opened) return opening.sessionEpoch;
  const { refusal, occurredAt } = opening;
  throw new HttpRefusal(refusal, { occurredAt });
}

function tokenAnswer(issued: { token: string; expiresAt: string }, principal: Principal, sessionEpoch?: number) {
  const { token, expiresAt } = issued;
  return { token, tokenType: 'Bearer', expiresAt, principal, ...(sessionEpoch !== undefined && { sessionEpoch }) };
}

function slugOf(c: Context): string {
  const slug = c.req.param('slug');
  if (slug === undefined) throw fail('PROTOCOL_VIOLATION', 'no such path or method', { status: 404 });
  return slug;
}
