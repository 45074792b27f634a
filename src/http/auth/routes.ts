// POST /auth/challenge, /auth/token, /auth/refresh.
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import type { Authority, TenantSigners } from '../../authority/ports.ts';
import type { Logger } from '../../platform/logger.ts';
import { actor, base64url, id } from '../../protocol/documents/shapes.ts';
import type { Principal } from '../../protocol/principals.ts';
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { AuthorityStore, OrganizationRow } from '../../store/port.ts';
import { jsonBody, limitBody, LOGIN_BODY_MAXIMUM } from '../bodies.ts';
import { authRequired, fail, HttpRefusal, loginRefused } from '../errors.ts';
import type { HttpObserver } from '../observer.ts';
import type { Turns } from '../turns.ts';
import { namesOf } from '../watching.ts';
import { bearerOf, decoyOrganizationId, type Authentication, type TenantEnv } from '../tenancy.ts';
import { CHALLENGE_TEXT_MAXIMUM, CLIENT_NONCE_MAXIMUM, type Challenges } from './challenges.ts';
import { logIn } from './login.ts';
import { openSession } from './sessions.ts';
import { mayRefresh } from './tokens.ts';

export interface AuthParts extends Authentication {
  store: AuthorityStore;
  authority: Authority;
  signers: TenantSigners;
  challenges: Challenges;
  logger: Logger;
  turns: Turns;
  observer: HttpObserver;
}

const challengeBody = z.strictObject({
  principal: actor,
  keyId: id,
  clientNonce: base64url.refine((text) => text.length <= CLIENT_NONCE_MAXIMUM, 'must have at most 256 characters'),
});

const tokenBody = z
  .strictObject({
    principal: actor,
    challenge: base64url.refine((text) => text.length <= CHALLENGE_TEXT_MAXIMUM, 'is too long'),
    challengeSignature: base64url,
    openSession: z.boolean().optional(),
  })
  .refine(({ principal, openSession }) => !openSession || principal.type === 'agent', {
    path: ['openSession'],
    message: 'is for agents only',
  });

export function authRoutes(parts: AuthParts): Hono<TenantEnv> {
  const { store, directory, challenges } = parts;
  const routes = new Hono<TenantEnv>();
  routes.use(limitBody(LOGIN_BODY_MAXIMUM));

  routes.post('/challenge', async (c) => {
    const request = await jsonBody(c, challengeBody);
    const slug = slugOf(c);
    const organization = await directory.lookUp(slug);
    const organizationId = organization?.organizationId ?? decoyOrganizationId(slug);
    return c.json(challenges.issue(organizationId, request, await store.organizations.now()));
  });

  routes.post('/token', async (c) => {
    const { principal, challenge, challengeSignature, openSession: wantsSession } = await jsonBody(c, tokenBody);
    const organization = await directory.lookUp(slugOf(c));
    const { keys, logger, turns, observer } = parts;
    const attempt = { principal, challenge, challengeSignature };
    const lane = `login ${organization?.organizationId ?? ''}`;
    const loggedIn = await logIn(
      { organizations: store.organizations, challenges, keys, turns, lane },
      organization,
      attempt,
    );
    observer.loginStepEnded('login', loggedIn ? 'accepted' : 'refused');
    if (!loggedIn || !organization) {
      const about = { tenant: organization?.organizationId, principal };
      logger.info({ ...namesOf(c), ...about }, 'a login was refused');
      throw loginRefused();
    }
    const sessionEpoch = wantsSession ? await openedEpoch(c, parts, organization, principal) : undefined;
    const now = millisFromTimestamp(await store.organizations.now());
    const { organizationId, slug } = organization;
    const bearer = { organizationId, slug, ...loggedIn, signedInAt: now };
    const issued = await parts.tokens.issue(bearer, now);
    return c.json(tokenAnswer(issued, principal, sessionEpoch));
  });

  routes.post('/refresh', async (c) => {
    const { bearer } = await bearerOf(c, parts);
    // From the database, not from memory: a refresh is rare and prolongs what a revoked key could do.
    const stillValid = await parts.keys.validBinding(bearer);
    const now = millisFromTimestamp(await store.organizations.now());
    const isRefreshed = stillValid !== undefined && mayRefresh(bearer, now);
    parts.observer.loginStepEnded('refresh', isRefreshed ? 'accepted' : 'refused');
    if (!isRefreshed) throw authRequired();
    return c.json(tokenAnswer(await parts.tokens.issue(bearer, now), bearer.principal));
  });
  return routes;
}

async function openedEpoch(
  c: Context,
  parts: AuthParts,
  organization: OrganizationRow,
  principal: Principal,
): Promise<number> {
  const { store, authority, signers, logger, observer } = parts;
  const names = namesOf(c);
  const session = { organizations: store.organizations, authority, signers, requestId: names.requestId };
  const opening = await openSession(session, organization, principal.id);
  observer.loginStepEnded('session', opening.opened ? 'accepted' : 'refused');
  if (opening.opened) return opening.sessionEpoch;
  const { refusal, occurredAt } = opening;
  const tenant = organization.organizationId;
  logger.info({ ...names, tenant, principal, code: refusal.code }, 'a session was not opened');
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
