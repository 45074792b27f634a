// Pure Ed25519 as the protocol narrows it (MWP-SDV-003, -005, -006). The hot path is the platform's verifier, in the
// thread pool where there is a core for it; the strict point arithmetic runs once per key and, for a signature, only to
// name the stage of a failure.

import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Point } from '@noble/ed25519';
import { decodeBase64url } from '../wire/base64url.ts';

/** Order of the base point, 2^252 + 27742317777372353535851937790883648493. */
export const L = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn;
const PUBLIC_KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;

export type PointFault = 'not-a-canonical-point' | 'identity-point' | 'not-in-prime-order-subgroup';
export type PublicKeyFault = 'not-canonical-base64url' | 'not-32-bytes' | PointFault;

/** A key that passed the strict check: on the curve, canonical, not the identity, of prime order. */
export interface PublicKey {
  readonly native: KeyObject;
  /** 32, as bound. */
  readonly bytes: Uint8Array;
}

export type PublicKeyResult =
  { readonly ok: true; readonly key: PublicKey } | { readonly ok: false; readonly fault: PublicKeyFault };

/**
 * Keys that passed, by their text. The fast path is sound only for prime-order keys, so an import is never without the
 * check; the cache makes it once per key and process. Bounded: about 300 bytes an entry.
 */
const PUBLIC_KEY_CACHE_SIZE = 10_000;
const publicKeys = new Map<string, PublicKey>();

export function importPublicKey(text: string): PublicKeyResult {
  const cached = publicKeys.get(text);
  if (cached !== undefined) return { ok: true, key: cached };
  const bytes = decodeBase64url(text);
  if (bytes === undefined) return { ok: false, fault: 'not-canonical-base64url' };
  if (bytes.length !== PUBLIC_KEY_BYTES) return { ok: false, fault: 'not-32-bytes' };
  const fault = publicKeyPointFault(bytes);
  if (fault !== undefined) return { ok: false, fault };
  const native = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' });
  // A copy: what was decoded lies in a slab of 8 kB of Node's pool, which the cache would keep whole.
  const key: PublicKey = { native, bytes: Uint8Array.from(bytes) };
  if (publicKeys.size >= PUBLIC_KEY_CACHE_SIZE) {
    const oldest = publicKeys.keys().next();
    if (!oldest.done) publicKeys.delete(oldest.value);
  }
  publicKeys.set(text, key);
  return { ok: true, key };
}

export function publicKeyPointFault(bytes: Uint8Array): PointFault | undefined {
  const point = decodePoint(bytes);
  if (point === undefined) return 'not-a-canonical-point';
  if (point.is0()) return 'identity-point';
  return point.isTorsionFree() ? undefined : 'not-in-prime-order-subgroup';
}

/** As for a key, but the identity is allowed for R. Costs about a millisecond: never on the hot path. */
export function signatureRFault(signature: Uint8Array): PointFault | undefined {
  const point = decodePoint(signature.subarray(0, 32));
  if (point === undefined) return 'not-a-canonical-point';
  return point.is0() || point.isTorsionFree() ? undefined : 'not-in-prime-order-subgroup';
}

/** S < L, never reduced. */
export function isScalarInRange(signature: Uint8Array): boolean {
  // Every S below 2^252 is below L; most signatures need only this byte.
  if ((signature[63] ?? 0xff) < 0x10) return true;
  return littleEndian(signature.subarray(32, 64)) < L;
}

/**
 * The cofactorless equation by the platform. Given a key from importPublicKey and S in range, it accepts exactly what
 * strictVerify accepts: the platform compares its own encoding of [S]B - [k]A with R byte by byte, and that point is
 * in the prime-order subgroup and canonically encoded, so R is too. One R divides the platforms: the identity, which the
 * protocol allows (MWP-SDV-003) and newer OpenSSL refuses (seen on Node.js 24). There the strict path has the word.
 */
export async function nativeVerify(key: PublicKey, signature: Uint8Array, message: Uint8Array): Promise<boolean> {
  const valid = HAS_ANOTHER_CORE
    ? await verifyInPool(key, signature, message)
    : verify(null, message, key.native, signature);
  return valid || (IDENTITY_POINT.equals(signature.subarray(0, 32)) && strictVerify(key.bytes, signature, message));
}

/**
 * The pool leaves the main thread free for as long as another core does the work. On a single one it would only be
 * switched to and back, an eighth of a verification each time, and nothing would be done sooner.
 */
const HAS_ANOTHER_CORE = availableParallelism() > 1;

/** y = 1, x = 0. */
const IDENTITY_POINT = Buffer.from([1, ...new Array<number>(31).fill(0)]);

function verifyInPool(key: PublicKey, signature: Uint8Array, message: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, message, key.native, signature, (error, valid) => {
      if (error === null) resolve(valid);
      else reject(error);
    });
  });
}

/** The whole of stages 3 and 6 for a signature, in the words of the specification. Slow; the reference for tests. */
export function strictVerify(publicKey: Uint8Array, signature: Uint8Array, message: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== PUBLIC_KEY_BYTES) return false;
  if (publicKeyPointFault(publicKey) !== undefined || signatureRFault(signature) !== undefined) return false;
  const s = littleEndian(signature.subarray(32, 64));
  if (s >= L) return false;
  const rBytes = signature.subarray(0, 32);
  const k = littleEndian(hash('sha512', Buffer.concat([rBytes, publicKey, message]), 'buffer')) % L;
  const right = Point.fromBytes(rBytes).add(Point.fromBytes(publicKey).multiply(k, false));
  return Point.BASE.multiply(s, false).equals(right);
}

function decodePoint(bytes: Uint8Array): Point | undefined {
  try {
    return Point.fromBytes(bytes, false); // strict: y below p, no negative zero
  } catch {
    return undefined;
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
