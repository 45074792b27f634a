// The challenge of the wire protocol (commands.md (j), MWP-IDN-007b) without a memory: its id authenticates the whole
// transcript, so any process can issue one and any other can check the answer. That it is used once is the store's. It is
// bound to the slug of the path, not to what stands behind it, so nobody need look whether there is such an Organization.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { id, timestamp } from '../../protocol/documents/shapes.ts';
import type { Principal } from '../../protocol/principals.ts';
import { addSeconds } from '../../protocol/timestamps.ts';
import { decodeBase64url, encodeBase64url } from '../../wire/base64url.ts';
import { canonicalBytes } from '../../wire/canonical.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import type { KeyVault } from '../../platform/key-vault.ts';

/** Time for one round trip and a signature; also how long a used challenge must be remembered. */
export const CHALLENGE_SECONDS = 30;
/** commands.md (j): a longer one would not fit the `challenge` member of the frame. */
export const CLIENT_NONCE_MAXIMUM = 256;
/** Seven members at their longest, as base64url. */
export const CHALLENGE_TEXT_MAXIMUM = 4_096;
const SERVER_NONCE_BYTES = 32;

const nonce = z.string().max(CLIENT_NONCE_MAXIMUM);

const transcriptShape = z.strictObject({
  agentId: id,
  challengeId: z.string().max(64),
  clientNonce: nonce,
  expiresAt: timestamp,
  keyId: id,
  protocolVersion: z.literal('0.1'),
  serverNonce: z.string().max(64),
});

/** The seven members. `agentId` is the principal's id also of humans and services. */
export type Transcript = z.infer<typeof transcriptShape>;

export interface ChallengeRequest {
  principal: Principal;
  keyId: string;
  clientNonce: string;
}

export interface Challenge {
  /** base64url of the RFC 8785 bytes of the transcript: what is signed, decoded. */
  challenge: string;
  challengeId: string;
  serverNonce: string;
  expiresAt: string;
}

export class Challenges {
  private readonly vault: KeyVault;
  private readonly random: (bytes: number) => Uint8Array;

  constructor(vault: KeyVault, random: (bytes: number) => Uint8Array = randomBytes) {
    this.vault = vault;
    this.random = random;
  }

  issue(slug: string, { principal, keyId, clientNonce }: ChallengeRequest, now: string): Challenge {
    const serverNonce = encodeBase64url(this.random(SERVER_NONCE_BYTES));
    const expiresAt = addSeconds(now, CHALLENGE_SECONDS);
    const members = {
      agentId: principal.id,
      clientNonce,
      expiresAt,
      keyId,
      protocolVersion: '0.1' as const,
      serverNonce,
    };
    const challengeId = encodeBase64url(this.seal(slug, principal.type, members));
    const challenge = encodeBase64url(canonicalBytes({ ...members, challengeId }));
    return { challenge, challengeId, serverNonce, expiresAt };
  }

  /** The transcript, if this service issued exactly these bytes to this principal. Says nothing of age and use. */
  read(slug: string, principal: Principal, challenge: string): Authentic | undefined {
    const bytes = challenge.length <= CHALLENGE_TEXT_MAXIMUM ? decodeBase64url(challenge) : undefined;
    const json = bytes && parseStrictJson(bytes);
    const shape = json?.ok ? transcriptShape.safeParse(json.value) : undefined;
    if (!bytes || !shape?.success || shape.data.agentId !== principal.id) return undefined;
    const { challengeId, ...members } = shape.data;
    const claimed = decodeBase64url(challengeId);
    const sealed = this.seal(slug, principal.type, members);
    if (claimed?.length !== sealed.length || !timingSafeEqual(claimed, sealed)) return undefined;
    // Only the canonical spelling is what was issued, and what the signature must be over.
    if (!Buffer.from(canonicalBytes(shape.data)).equals(bytes)) return undefined;
    return { transcript: shape.data, bytes };
  }

  private seal(slug: string, type: Principal['type'], members: Omit<Transcript, 'challengeId'>): Uint8Array {
    // Of one length, because what stands in a path can have any, and a key is derived from this.
    const key = this.vault.subkey('challenge', createHash('sha256').update(slug).digest('hex'));
    return createHmac('sha256', key)
      .update(canonicalBytes({ ...members, type }))
      .digest();
  }
}

export interface Authentic {
  transcript: Transcript;
  /** Exactly what must have been signed. */
  bytes: Uint8Array;
}
