// Bearer tokens: JWTs under a key of the Organization, checked without a look-up of tenant or principal. The Organization
// that a token names only chooses the key; the signature proves the rest.
import { decodeJwt, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import type { KeyVault } from '../../platform/key-vault.ts';
import { id } from '../../protocol/documents/shapes.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { Principal } from '../../protocol/principals.ts';
import { timestampFromMillis } from '../../protocol/timestamps.ts';
import { decodeBase64url } from '../../wire/base64url.ts';

/** Short, because a token is worth its bearer's reads until it ends (MWP-IDN-009b). */
export const TOKEN_SECONDS = 15 * 60;
/** From the signature on; after it, sign a new challenge. A refresh must not make one signature last for ever. */
export const REFRESH_WINDOW_SECONDS = 24 * 60 * 60;
/** Ours are below 2 kB even with ids of full length. */
const TOKEN_TEXT_MAXIMUM = 4_096;
/** Tokens that proved genuine, kept per process: about 1 kB each. */
const CACHE_MAXIMUM = 10_000;

const ISSUER = 'mwp-authority';
const ALGORITHM = 'HS256';

const claimsShape = z.object({
  aud: id,
  slug: z.string(),
  sub: id,
  type: z.enum(['agent', 'human', 'service']),
  key: id,
  authTime: z.int(),
  exp: z.int(),
});

/** Whom a token speaks for. */
export interface TokenBearer {
  organizationId: OrganizationId;
  slug: string;
  principal: Principal;
  keyId: string;
  /** When the principal signed; milliseconds since 1970. */
  signedInAt: number;
}

export interface IssuedToken {
  token: string;
  expiresAt: string;
}

export class Tokens {
  /** By their whole text, signature included, which says the same for ever; only the time is looked at again. */
  private readonly genuine = new BoundedCache<{ bearer: TokenBearer; expiresAtSeconds: number }>(CACHE_MAXIMUM);
  private readonly vault: KeyVault;

  constructor(vault: KeyVault) {
    this.vault = vault;
  }

  /** `now`: milliseconds since 1970. */
  async issue(bearer: TokenBearer, now: number): Promise<IssuedToken> {
    const { organizationId, slug, principal, keyId, signedInAt } = bearer;
    const issued = Math.floor(now / 1_000);
    const claims = { slug, type: principal.type, key: keyId, authTime: Math.floor(signedInAt / 1_000) };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM })
      .setIssuer(ISSUER)
      .setAudience(organizationId)
      .setSubject(principal.id)
      .setIssuedAt(issued)
      .setExpirationTime(issued + TOKEN_SECONDS)
      .sign(this.vault.subkey('token', organizationId));
    return { token, expiresAt: timestampFromMillis((issued + TOKEN_SECONDS) * 1_000) };
  }

  /** Undefined for whatever is not a live token of this service; why is nobody's business. */
  async read(token: string, now: number): Promise<TokenBearer | undefined> {
    if (token.length > TOKEN_TEXT_MAXIMUM) return undefined;
    const known = this.genuine.get(token);
    if (!known && !isCanonical(token)) return undefined;
    if (known) return Math.floor(now / 1_000) < known.expiresAtSeconds ? known.bearer : undefined;
    try {
      const { aud } = decodeJwt(token);
      if (typeof aud !== 'string') return undefined;
      const { payload } = await jwtVerify(token, this.vault.subkey('token', aud), {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: aud,
        currentDate: new Date(now),
        requiredClaims: ['exp', 'iat', 'sub'],
      });
      const claims = claimsShape.parse(payload);
      const bearer: TokenBearer = {
        organizationId: claims.aud as OrganizationId,
        slug: claims.slug,
        principal: { type: claims.type, id: claims.sub },
        keyId: claims.key,
        signedInAt: claims.authTime * 1_000,
      };
      this.genuine.set(token, { bearer, expiresAtSeconds: claims.exp });
      return bearer;
    } catch {
      return undefined;
    }
  }
}

/** Three parts in the one spelling of their bytes (RFC 7515); the library also reads padded and otherwise spelled ones. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return parts.length === 3 && parts.every((part) => decodeBase64url(part) !== undefined);
}

export function mayRefresh(bearer: TokenBearer, now: number): boolean {
  return now - bearer.signedInAt < REFRESH_WINDOW_SECONDS * 1_000;
}
