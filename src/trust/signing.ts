// Signing a document: canonical bytes of everything but the top-level signature, and the envelope that binds them.

import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { checkDocument } from '../protocol/documents/catalogue.ts';
import type { Signature } from '../protocol/documents/shapes.ts';
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import { isCapitalZ } from '../protocol/timestamps.ts';
import { encodeBase64url } from '../wire/base64url.ts';
import { canonicalBytes, canonicalTextOpenAt, sha256Label } from '../wire/canonical.ts';
import { protectedTimeOf, type SignedDocument, type UnsignedDocument } from './signed-kinds.ts';

/** Holds a private key; nothing else of the service sees one. Synchronous: native signing takes 0.07 ms. */
export interface Signer {
  readonly keyId: string;
  sign(bytes: Uint8Array): Uint8Array;
}

export interface Signed<Kind extends SignedDocumentKind> {
  readonly document: SignedDocument<Kind>;
  /** Canonical JSON text of the document, signature included. */
  readonly text: string;
  readonly signingBytes: Uint8Array;
  readonly signingHash: string;
}

/**
 * Signs. `createdAt` is the protected time, character for character (MWP-FND-005c). What is ours to sign is right or a
 * bug, so a document outside its schema throws, and nothing invalid is ever stored or sent (MWP-FND-004a).
 */
export function signDocument<Kind extends SignedDocumentKind>(
  kind: Kind,
  unsigned: UnsignedDocument<Kind>,
  signer: Signer,
): Signed<Kind> {
  const createdAt = protectedTimeOf(kind, unsigned);
  if (!isCapitalZ(createdAt)) throw new Error(`the protected time of a ${kind} must end in capital Z`);
  const open = canonicalTextOpenAt(unsigned, 'signature');
  const bytes = Buffer.from(open.text, 'utf8');
  const signature: Signature = {
    algorithm: 'Ed25519',
    keyId: signer.keyId,
    createdAt,
    value: encodeBase64url(signer.sign(bytes)),
  };
  const check = checkDocument<SignedDocumentKind>(kind, { ...unsigned, signature });
  if (!check.valid) throw new Error(`a ${kind} of ours does not fit its schema: ${check.fault}`);
  return {
    document: check.document as SignedDocument<Kind>,
    text: open.with(signature),
    signingBytes: bytes,
    signingHash: sha256Label(bytes),
  };
}

/** Only the top-level `signature` stays out; nested members of that name are protected (MWP-SDV-001c). */
export function signingBytes(document: object): Uint8Array {
  const { signature: _signature, ...rest } = document as { signature?: unknown };
  return canonicalBytes(rest);
}

export function signingHash(document: object): string {
  return sha256Label(signingBytes(document));
}

export function signerFromPrivateKey(keyId: string, privateKey: KeyObject): Signer {
  return { keyId, sign: (bytes) => sign(null, bytes, privateKey) };
}

export function signerFromSeed(keyId: string, seed: Uint8Array): Signer {
  return signerFromPrivateKey(keyId, privateKeyFromSeed(seed));
}

export interface GeneratedKeyPair {
  /** 32 bytes. The caller encrypts it before it rests anywhere. */
  readonly seed: Uint8Array;
  /** base64url, as a binding or an Agent Card spells it. */
  readonly publicKey: string;
}

export function generateKeyPair(): GeneratedKeyPair {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  if (jwk.d === undefined || jwk.x === undefined) throw new Error('the platform gave an Ed25519 key without members');
  return { seed: Buffer.from(jwk.d, 'base64url'), publicKey: jwk.x };
}

export function publicKeyFromSeed(seed: Uint8Array): string {
  const jwk = privateKeyFromSeed(seed).export({ format: 'jwk' });
  if (jwk.x === undefined) throw new Error('the platform gave an Ed25519 key without members');
  return jwk.x;
}

/** DER header of a PKCS #8 Ed25519 key (RFC 8410); the 32-byte seed follows it. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

function privateKeyFromSeed(seed: Uint8Array): KeyObject {
  if (seed.length !== 32) throw new RangeError('an Ed25519 seed has 32 bytes');
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
}
