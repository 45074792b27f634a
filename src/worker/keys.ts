// An actor's own Ed25519 key: who it is, under which key id it signs, and the signer. It knows no file and no network.

import { randomUUID } from 'node:crypto';
import type { Principal } from '../protocol/principals.ts';
import { generateKeyPair, publicKeyFromSeed, signerFromSeed, type Signer } from '../trust/signing.ts';

export interface ActorKey {
  readonly principal: Principal;
  readonly keyId: string;
  /** base64url of 32 bytes, as a key binding and an Agent Card spell it. */
  readonly publicKey: string;
  readonly signer: Signer;
}

export interface NewActorKey extends ActorKey {
  /** 32 bytes, the private key itself. Encrypt it before it rests anywhere; the SDK keeps no copy. */
  readonly seed: Uint8Array;
}

/** `keyId` must never have been bound in this Organization; a fresh one is the default (MWP-SDV-004). */
export function generateActorKey(principal: Principal, keyId = `urn:uuid:${randomUUID()}`): NewActorKey {
  const { seed, publicKey } = generateKeyPair();
  return { principal, keyId, publicKey, signer: signerFromSeed(keyId, seed), seed };
}

export function actorKeyFromSeed(principal: Principal, keyId: string, seed: Uint8Array): ActorKey {
  return { principal, keyId, publicKey: publicKeyFromSeed(seed), signer: signerFromSeed(keyId, seed) };
}
