// Arithmetic of Ed25519 for tests that forge: points as bytes, scalars as numbers, and signatures by whoever holds a key.
import { createHash } from 'node:crypto';
import { Point } from '@noble/ed25519';
import { L } from '../../src/trust/ed25519.ts';

export const P = 2n ** 255n - 19n;
export const IDENTITY = numberToBytes(1n);
export const NEGATIVE_ZERO = withSign(IDENTITY);
/** A point of order 8; its multiples are the whole torsion subgroup. */
export const TORSION = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
/** All eight; the first is the identity. */
export const TORSION_POINTS = Array.from({ length: 8 }, (_, at) =>
  at === 0 ? Point.ZERO : TORSION.multiply(BigInt(at)),
);

export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

export function numberToBytes(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse());
}

export function bytesToNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

export function withSign(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[31] = (copy[31] ?? 0) | 0x80;
  return copy;
}

export function challenge(r: Uint8Array, a: Uint8Array, message: Uint8Array): bigint {
  return bytesToNumber(createHash('sha512').update(r).update(a).update(message).digest()) % L;
}

export function join(r: Uint8Array, s: bigint): Uint8Array {
  return Uint8Array.from([...r, ...numberToBytes(s)]);
}

/** A signature by a known scalar with a chosen R: the tool of every forger who holds a key. */
export function signWith(secret: bigint, publicKey: Uint8Array, r: bigint, rBytes: Uint8Array, message: Uint8Array) {
  return join(rBytes, (r + challenge(rBytes, publicKey, message) * secret) % L);
}

export function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
