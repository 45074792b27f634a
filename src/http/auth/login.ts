// Is the answer to a challenge genuine? One yes and one uniform no: every path costs a verification and the same time.
import { setTimeout as delay } from 'node:timers/promises';
import type { OrganizationRow, OrganizationStore } from '../../store/port.ts';
import type { Principal } from '../../protocol/principals.ts';
import { compareTimestamps } from '../../protocol/timestamps.ts';
import { DUMMY_KEY } from '../../trust/dummy-key.ts';
import { importPublicKey, isScalarInRange, nativeVerify, SIGNATURE_BYTES } from '../../trust/ed25519.ts';
import { decodeBase64url } from '../../wire/base64url.ts';
import type { Authentic, Challenges } from './challenges.ts';
import type { LoginFailures } from '../limits/login-failures.ts';
import type { Directory } from '../tenancy.ts';
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

export type LoginOutcome =
  | ({ outcome: 'genuine' } & LoggedIn)
  | { outcome: 'refused' }
  /** Not genuine, and one of so many lately that no more was done than to see that. */
  | { outcome: 'limited'; retryAfterMs: number };

export interface LoginParts {
  organizations: OrganizationStore;
  challenges: Challenges;
  directory: Directory;
  keys: KeyWatch;
  failures: LoginFailures;
  turns: Turns;
  clock: () => number;
}

/** Whatever is not genuine is answered FAILURE_FLOOR_MILLISECONDS after the call, or later. */
export async function logIn(parts: LoginParts, slug: string, answer: LoginAnswer): Promise<LoginOutcome> {
  const floor = delay(FAILURE_FLOOR_MILLISECONDS);
  const organization = await parts.directory.known(slug);
  // All unknown Organizations share one lane.
  const lane = `login ${organization?.organizationId ?? ''}`;
  const outcome = await parts.turns.run({ lane }, () => attempt(parts, { slug, organization }, answer));
  if (outcome.outcome !== 'genuine') await floor;
  return outcome;
}

interface Place {
  slug: string;
  /** Undefined: there is none of that slug. */
  organization: OrganizationRow | undefined;
}

async function attempt(parts: LoginParts, place: Place, answer: LoginAnswer): Promise<LoginOutcome> {
  const { challenges, failures } = parts;
  const authentic = challenges.read(place.slug, answer.principal, answer.challenge);
  const retryAfterMs = failures.wait(place.slug);
  // Who holds the key gets in however many strangers are knocking, so the signature is looked at first, and alone.
  if (retryAfterMs > 0 && !(await looksGenuine(parts, place, answer, authentic))) {
    return { outcome: 'limited', retryAfterMs };
  }
  const loggedIn = await check(parts, place, answer, authentic);
  if (loggedIn) return { outcome: 'genuine', ...loggedIn };
  failures.count(place.slug);
  return { outcome: 'refused' };
}

/** Costs a signature check and nothing of the database, while the key was seen a moment ago. Spends no challenge. */
async function looksGenuine(
  { keys, clock }: LoginParts,
  { organization }: Place,
  { principal, challengeSignature }: LoginAnswer,
  authentic: Authentic | undefined,
): Promise<boolean> {
  if (!organization || !authentic) return false;
  const { organizationId } = organization;
  const { keyId } = authentic.transcript;
  const binding = await keys.recentBinding({ organizationId, keyId, principal }, clock());
  return verifies(binding?.publicKey, challengeSignature, authentic);
}

async function check(
  { organizations, keys }: LoginParts,
  { organization }: Place,
  { principal, challengeSignature }: LoginAnswer,
  authentic: Authentic | undefined,
): Promise<LoggedIn | undefined> {
  if (!organization || !authentic) return undefined;
  const { organizationId } = organization;
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
