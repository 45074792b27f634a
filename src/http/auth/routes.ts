// POST /auth/challenge, /auth/token, /auth/refresh.
import { Hono, type Context } from 'hono';
import type { Authority, ServiceSigners } from '../../authority/ports.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Principal } from '../../protocol/principals.ts';
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { AuthorityStore, OrganizationRow, PassPoint } from '../../store/port.ts';
import { jsonBody, limitBody, LOGIN_BODY_MAXIMUM } from '../bodies.ts';
import { authRequired, fail, HttpRefusal, loginRefused } from '../errors.ts';
import { limitedBy, type Asker, type RequestLimits } from '../limits/request-limits.ts';
import { LoginFailures } from '../limits/login-failures.ts';
import type { Turns } from '../turns.ts';
import type { HttpObserver } from '../observer.ts';
import { namesOf } from '../watching.ts';
import { bearerOf, type Authentication, type TenantEnv } from '../tenancy.ts';
import { declared } from '../openapi/operation.ts';
import type { Challenges } from './challenges.ts';
import { logIn } from './login.ts';
import { CHALLENGE, challengeBody, REFRESH, TOKEN, tokenBody } from './operations.ts';
import { openSession } from './sessions.ts';
import { mayRefresh } from './tokens.ts';

export interface AuthParts extends Authentication {
  store: AuthorityStore;
  authority: Authority;
  signers: ServiceSigners;
  challenges: Challenges;
  logger: Logger;
  turns: Turns;
  limits: RequestLimits;
  monotonic: () => number;
  newId: () => string;
  observer: HttpObserver;
  pass: PassPoint;
}

export function authRoutes(parts: AuthParts): Hono<TenantEnv> {
  const { store, directory, challenges, limits, observer } = parts;
  const { organizations } = store;
  const login = { ...parts, organizations, failures: new LoginFailures(parts.monotonic) };
  const now = sharedLook(() => organizations.now());
  const routes = new Hono<TenantEnv>();
  routes.use(limitBody(LOGIN_BODY_MAXIMUM));

  // No limit: to refuse one would cost what it costs, and would shut out who has a key (docs/decisions/0015).
  routes.post(
    '/challenge',
    declared(CHALLENGE, async (c) => {
      const request = await jsonBody(c, challengeBody);
      return c.json(challenges.issue(slugOf(c), request, await now()));
    }),
  );

  routes.post(
    '/token',
    declared(TOKEN, async (c) => {
      const { openSession: wantsSession, ...answer } = await jsonBody(c, tokenBody);
      const slug = slugOf(c);
      const outcome = await logIn(login, slug, answer);
      parts.pass('challenge-consumed');
      const organization = await directory.known(slug);
      observer.loginStepEnded('login', outcome.outcome === 'genuine' ? 'accepted' : 'refused');
      if (outcome.outcome === 'limited') throw new HttpRefusal(limitedBy('logins', outcome.retryAfterMs));
      if (outcome.outcome === 'refused' || !organization) {
        const about = { tenant: organization?.organizationId, principal: answer.principal };
        parts.logger.info({ ...namesOf(c), ...about }, 'a login was refused');
        throw loginRefused();
      }
      const { principal, keyId } = outcome;
      await admitLogin(limits, { organizationId: organization.organizationId, principal });
      const sessionEpoch = wantsSession ? await openedEpoch(c, parts, organization, principal) : undefined;
      const signedInAt = millisFromTimestamp(await organizations.now());
      const { organizationId } = organization;
      const bearer = { organizationId, slug, principal, keyId, signedInAt };
      const issued = await parts.tokens.issue(bearer, signedInAt);
      return c.json(tokenAnswer(issued, principal, sessionEpoch));
    }),
  );

  routes.post(
    '/refresh',
    declared(REFRESH, async (c) => {
      const { bearer } = await bearerOf(c, parts);
      await admitLogin(limits, bearer);
      // From the database, not from memory: a refresh is rare and prolongs what a revoked key could do.
      const stillValid = await parts.keys.validBinding(bearer);
      const at = millisFromTimestamp(await organizations.now());
      const isRefreshed = stillValid !== undefined && mayRefresh(bearer, at);
      observer.loginStepEnded('refresh', isRefreshed ? 'accepted' : 'refused');
      if (!isRefreshed) throw authRequired();
      return c.json(tokenAnswer(await parts.tokens.issue(bearer, at), bearer.principal));
    }),
  );
  return routes;
}

/** Only for whom a signature or a token vouches: a limit on a claimed name could be used up by anybody. */
async function admitLogin(limits: RequestLimits, { organizationId, principal }: Asker): Promise<void> {
  const refusal = await limits.admit('logins', { organizationId, principal });
  if (refusal) throw new HttpRefusal(refusal);
}

/** All who ask while a look is under way share what it sees, so a flood asks the database one thing at a time. */
function sharedLook<Value>(look: () => Promise<Value>): () => Promise<Value> {
  let underWay: Promise<Value> | undefined;
  return () => (underWay ??= look().finally(() => (underWay = undefined)));
}

async function openedEpoch(
  c: Context,
  parts: AuthParts,
  organization: OrganizationRow,
  principal: Principal,
): Promise<number> {
  const { store, authority, signers, newId, logger, observer } = parts;
  const names = namesOf(c);
  const { organizations } = store;
  const session = { organizations, authority, signers, newId, requestId: names.requestId };
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
