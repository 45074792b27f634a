// From a request to who asks in which Organization. Without a live token nothing is looked up, so neither the answer nor
// its time tells whether the Organization exists (design section 6).
import type { Context, MiddlewareHandler } from 'hono';
import type { OrganizationRow, OrganizationStore } from '../store/port.ts';
import { BoundedCache } from '../platform/bounded-cache.ts';
import type { KeyWatch } from './auth/key-watch.ts';
import type { TokenBearer, Tokens } from './auth/tokens.ts';
import { authRequired } from './errors.ts';

export interface TenantEnv {
  Variables: {
    organization: OrganizationRow;
    bearer: TokenBearer;
  };
}

/** Organizations kept per process; they never change once made. */
const CACHE_MAXIMUM = 10_000;
const SLUG = /^[a-z0-9-]{1,63}$/;

export class Directory {
  private readonly cached = new BoundedCache<OrganizationRow>(CACHE_MAXIMUM);
  private readonly organizations: OrganizationStore;

  constructor(organizations: OrganizationStore) {
    this.organizations = organizations;
  }

  /** As it is now. */
  async lookUp(slug: string): Promise<OrganizationRow | undefined> {
    return SLUG.test(slug) ? this.organizations.bySlug(slug) : undefined;
  }

  /** A known slug takes less time than an unknown one: for callers who cannot see that, or know it exists. */
  async known(slug: string): Promise<OrganizationRow | undefined> {
    const cached = this.cached.get(slug);
    if (cached) return cached;
    const found = await this.lookUp(slug);
    if (found) this.cached.set(slug, found);
    return found;
  }
}

export interface Authentication {
  tokens: Tokens;
  keys: KeyWatch;
  directory: Directory;
  clock: () => number;
}

/** Sets `organization` and `bearer`, or answers AUTH_REQUIRED. */
export function authenticate(parts: Authentication): MiddlewareHandler<TenantEnv> {
  return async (c, next) => {
    const { organization, bearer } = await bearerOf(c, parts);
    c.set('organization', organization);
    c.set('bearer', bearer);
    await next();
  };
}

export async function bearerOf(c: Context, { tokens, keys, directory, clock }: Authentication) {
  const now = clock();
  const text = bearerToken(c);
  const bearer = text === undefined ? undefined : await tokens.read(text, now);
  if (!bearer || bearer.slug !== c.req.param('slug')) throw authRequired();
  const organization = await directory.known(bearer.slug);
  if (organization?.organizationId !== bearer.organizationId) throw authRequired();
  if (!(await keys.isValid(bearer, now))) throw authRequired();
  return { organization, bearer };
}

export function bearerToken(c: Context): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
}
