// Is the answer to a challenge genuine? One yes and one uniform no: every path costs a verification and the same time.
import { setTimeout as delay } from 'node:timers/promises';
import type { OrganizationRow, OrganizationStore } from '../../store/port.ts';
import type { Principal } from '../../protocol/principals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import { DUMMY_KEY } from '../../trust/dummy-key.ts';
import { importPublicKey, isScalarInRange, nativeVerify, SIGNATURE_BYTES } from '../../trust/ed25519.ts';
import { decodeBase64url } from '../../wire/base64url.ts';
import type { Authentic, Challenges } from './challenges.ts';
import type { Turns } from '../turns.ts';
import type { KeyWatch } from './key-watch.ts';

/**
 * Milliseconds before which no failed login is answered. What differs inside (an Organization that is not there, a
 * challenge that was used, a key that is unknown) takes a few milliseconds and drowns in it.
 */
export const FAILURE_FLOOR_MILLISECONDS = 100;

export interface LoginAnswer {
  principal: Principal;
  challenge: string;
  challengeSignature: string;
}

export interface LoggedIn {
  principal: Principal;
  keyId: string;
}

export interface LoginParts {
  organizations: OrganizationStore;
  challenges: Challenges;
  keys: KeyWatch;
  turns: Turns;
  /** Of the Organization's logins; all unknown Organizations share one. */
  lane: string;
}

/** Undefined: refused, at least FAILURE_FLOOR_MILLISECONDS after the call. `organization` undefined: there is none. */
export async function logIn(
  parts: LoginParts,
  organization: OrganizationRow | undefined,
  answer: LoginAnswer,
): Promise<LoggedIn | undefined> {
  const floor = delay(FAILURE_FLOOR_MILLISECONDS);
  const loggedIn = await parts.turns.run(parts, () => check(parts, organization, answer));
  if (!loggedIn) await floor;
  return loggedIn;
}

async function check(
  { organizations, challenges, keys }: LoginParts,
  organization: OrganizationRow | undefined,
  { principal, challenge, challengeSignature }: LoginAnswer,
): Promise<LoggedIn | undefined> {
  if (!organization) return undefined;
  const { organizationId } = organization;
  const authentic = challenges.read(organizationId, principal, challenge);
  if (!authentic) return undefined;
  const { challengeId, expiresAt, keyId } = authentic.transcript;
  // Spent by the first attempt, good or bad, over all processes, before anything is looked at.
  const isFirst = await organizations.consumeChallenge(organizationId, challengeId, expiresAt);
  const inTime = compareTimestamps(await organizations.now(), expiresAt) < 0;
  const binding = await keys.validBinding({ organizationId, keyId, principal });
  const genuine = await verifies(binding?.publicKey, challengeSignature, authentic);
  return isFirst && inTime && binding && genuine ? { principal, keyId } : undefined;
}

/** Strict: a checked key, S below L, and the platform's comparison of R (design section 5). Unknown key: equal work. */
async function verifies(publicKey: string | undefined, signatureText: string, { bytes }: Authentic): Promise<boolean> {
  const signature = decodeBase64url(signatureText);
  const wellFormed = signature?.length === SIGNATURE_BYTES && isScalarInRange(signature);
  const known = publicKey === undefined ? undefined : importPublicKey(publicKey);
  const key = known?.ok ? known.key : DUMMY_KEY;
  const verified = await nativeVerify(key, wellFormed ? signature : new Uint8Array(SIGNATURE_BYTES), bytes);
  return verified && wellFormed && known?.ok === true;
}
