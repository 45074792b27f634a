import { createHash, createPublicKey, verify } from 'node:crypto';
import { Point } from '@noble/ed25519';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  importPublicKey,
  isScalarInRange,
  L,
  nativeVerify,
  publicKeyPointFault,
  signatureRFault,
  strictVerify,
} from '../../src/trust/ed25519.ts';
import { generateKeyPair, publicKeyFromSeed, signerFromSeed } from '../../src/trust/signing.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const P = 2n ** 255n - 19n;
const IDENTITY = numberToBytes(1n);
const NEGATIVE_ZERO = withSign(IDENTITY);
/** A point of order 8; its multiples are the whole torsion subgroup. */
const TORSION = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');

function numberToBytes(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse());
}
function bytesToNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
function withSign(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[31] = (copy[31] ?? 0) | 0x80;
  return copy;
}
function challenge(r: Uint8Array, a: Uint8Array, message: Uint8Array): bigint {
  return bytesToNumber(createHash('sha512').update(r).update(a).update(message).digest()) % L;
}
const join = (r: Uint8Array, s: bigint) => Uint8Array.from([...r, ...numberToBytes(s)]);

/** A signature by a known scalar with a chosen R: the tool of every forger who holds a key. */
function signWith(secret: bigint, publicKey: Uint8Array, r: bigint, rBytes: Uint8Array, message: Uint8Array) {
  return join(rBytes, (r + challenge(rBytes, publicKey, message) * secret) % L);
}

/** The hot path as verify.ts walks it. */
async function fastVerify(publicKey: Uint8Array, signature: Uint8Array, message: Uint8Array): Promise<boolean> {
  const imported = importPublicKey(encodeBase64url(publicKey));
  if (!imported.ok || signature.length !== 64 || !isScalarInRange(signature)) return false;
  return nativeVerify(imported.key, signature, message);
}

describe('Ed25519', () => {
  // RFC 8032 section 7.1, tests 1 to 3.
  it.each([
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ])('MWP-SDV-006: RFC 8032 key %s signs and verifies as published', async (seed, publicKey, message, signature) => {
    expect(publicKeyFromSeed(hex(seed))).toBe(encodeBase64url(hex(publicKey)));
    expect(Buffer.from(signerFromSeed('urn:k', hex(seed)).sign(hex(message))).toString('hex')).toBe(signature);
    expect(await fastVerify(hex(publicKey), hex(signature), hex(message))).toBe(true);
    expect(strictVerify(hex(publicKey), hex(signature), hex(message))).toBe(true);
  });

  it.each<[string, number, Uint8Array, (message: Uint8Array) => Uint8Array]>([
    ['Ed25519ph', 1, new Uint8Array(0), (message) => createHash('sha512').update(message).digest()],
    ['Ed25519ctx', 0, Buffer.from('foo'), (message) => message],
  ])('MWP-SDV-006: a genuine %s signature fails', async (_name, flag, context, prehash) => {
    const [secret, nonce] = [4711n, 815n];
    const publicKey = Point.BASE.multiply(secret).toBytes();
    const r = Point.BASE.multiply(nonce);
    const message = Buffer.from('abc');
    // dom2 of RFC 8032 section 2 stands before the hash input of both variants.
    const dom2 = Buffer.concat([
      Buffer.from('SigEd25519 no Ed25519 collisions'),
      Uint8Array.of(flag, context.length),
      context,
    ]);
    const hashed = createHash('sha512').update(dom2).update(r.toBytes()).update(publicKey).update(prehash(message));
    const k = bytesToNumber(hashed.digest()) % L;
    const signature = join(r.toBytes(), (nonce + k * secret) % L);
    const s = bytesToNumber(signature.subarray(32));
    expect(Point.BASE.multiply(s).equals(r.add(Point.fromBytes(publicKey).multiply(k)))).toBe(true);
    expect(await fastVerify(publicKey, signature, message)).toBe(false);
    expect(strictVerify(publicKey, signature, message)).toBe(false);
  });

  it.each<[string, Uint8Array, string]>([
    ['the identity', IDENTITY, 'identity-point'],
    ['negative zero', NEGATIVE_ZERO, 'not-a-canonical-point'],
    ['y = p', numberToBytes(P), 'not-a-canonical-point'],
    ['y = p + 1, a second spelling of the identity', numberToBytes(P + 1n), 'not-a-canonical-point'],
    ['off the curve', numberToBytes(2n), 'not-a-canonical-point'],
    ['small order', TORSION.toBytes(), 'not-in-prime-order-subgroup'],
    ['order 2', numberToBytes(P - 1n), 'not-in-prime-order-subgroup'],
    ['mixed order', Point.BASE.add(TORSION).toBytes(), 'not-in-prime-order-subgroup'],
  ])('MWP-SDV-005a: a public key that is %s is refused', (_name, bytes, fault) => {
    expect(publicKeyPointFault(bytes)).toBe(fault);
    expect(importPublicKey(encodeBase64url(bytes))).toEqual({ ok: false, fault });
  });

  it('MWP-SDV-005b: the platform imports, and verifies under, a mixed-order key that we refuse', () => {
    const secret = 12345n;
    const mixed = Point.BASE.multiply(secret).add(TORSION).toBytes();
    const native = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(mixed) }, format: 'jwk' });
    let accepted = 0;
    for (let nonce = 1n; nonce < 200n && accepted === 0; nonce += 1n) {
      const message = Buffer.from(`message ${nonce}`);
      const rBytes = Point.BASE.multiply(nonce).toBytes();
      const signature = signWith(secret, mixed, nonce, rBytes, message);
      if (verify(null, message, native, signature)) accepted += 1;
      expect(strictVerify(mixed, signature, message)).toBe(false);
    }
    expect(accepted).toBe(1); // so the import check is what keeps the fast path strict
    expect(importPublicKey(encodeBase64url(mixed)).ok).toBe(false);
  });

  it('MWP-SDV-003: R may be the identity, and may not be small, mixed, off the curve or noncanonical', () => {
    const r = (bytes: Uint8Array) => signatureRFault(join(bytes, 0n));
    expect(r(IDENTITY)).toBeUndefined();
    expect(r(Point.BASE.toBytes())).toBeUndefined();
    for (const bytes of [NEGATIVE_ZERO, numberToBytes(P), numberToBytes(P + 1n), numberToBytes(2n)]) {
      expect(r(bytes)).toBe('not-a-canonical-point');
    }
    for (const bytes of [TORSION.toBytes(), Point.BASE.add(TORSION).toBytes(), numberToBytes(P - 1n)]) {
      expect(r(bytes)).toBe('not-in-prime-order-subgroup');
    }
  });

  it('MWP-SDV-003: S is below L and never reduced', async () => {
    expect(isScalarInRange(join(IDENTITY, L - 1n))).toBe(true);
    for (const s of [L, L + 1n, 2n ** 253n, 2n ** 256n - 1n]) expect(isScalarInRange(join(IDENTITY, s))).toBe(false);
    const { seed, publicKey } = generateKeyPair();
    const message = Buffer.from('m');
    const good = Uint8Array.from(signerFromSeed('urn:k', seed).sign(message));
    const raised = join(good.subarray(0, 32), bytesToNumber(good.subarray(32)) + L);
    expect(await fastVerify(Buffer.from(publicKey, 'base64url'), good, message)).toBe(true);
    expect(await fastVerify(Buffer.from(publicKey, 'base64url'), raised, message)).toBe(false);
  });

  it('MWP-SDV-005a: a key is imported once and answered from memory after', () => {
    const { publicKey } = generateKeyPair();
    const [first, second] = [importPublicKey(publicKey), importPublicKey(publicKey)];
    expect(first.ok && second.ok && first.key === second.key).toBe(true);
  });
});

const scalar = fc.bigInt({ min: 1n, max: L - 1n });
const attack = fc.constantFrom(
  'honest',
  'identity R',
  'identity R as negative zero',
  'identity R as y = p + 1',
  'R plus torsion',
  'small-order R',
  'S plus L',
  'S negated',
  'bit of R',
  'bit of S',
  'bit of message',
  'other key',
  'R sign bit',
);

describe('the fast path is the strict path', () => {
  it('MWP-SDV-003, MWP-SDV-006: both give one answer for honest and adversarial signatures', async () => {
    const outcomes = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        attack,
        scalar,
        scalar,
        fc.uint8Array({ maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.nat(255),
        async (name, secret, nonce, message, torsion, bit) => {
          const forged = forge(name, { secret, nonce, message, torsion: BigInt(torsion), bit });
          const strict = strictVerify(forged.publicKey, forged.signature, forged.message);
          expect(await fastVerify(forged.publicKey, forged.signature, forged.message)).toBe(strict);
          outcomes[strict ? 'accepted' : 'refused'] += 1;
        },
      ),
      { numRuns: 150 },
    );
    expect(outcomes.accepted).toBeGreaterThan(5);
    expect(outcomes.refused).toBeGreaterThan(50);
  });

  it('MWP-SDV-003: an identity R made with the key is accepted by both', async () => {
    const forged = forge('identity R', { secret: 77n, nonce: 1n, message: new Uint8Array(3), torsion: 1n, bit: 0 });
    expect(strictVerify(forged.publicKey, forged.signature, forged.message)).toBe(true);
    expect(await fastVerify(forged.publicKey, forged.signature, forged.message)).toBe(true);
  });
});

interface Ingredients {
  secret: bigint;
  nonce: bigint;
  message: Uint8Array;
  torsion: bigint;
  bit: number;
}

function forge(name: string, { secret, nonce, message, torsion, bit }: Ingredients) {
  const publicKey = Point.BASE.multiply(secret).toBytes();
  const r = Point.BASE.multiply(nonce);
  const t = TORSION.multiply(torsion, false);
  const honest = signWith(secret, publicKey, nonce, r.toBytes(), message);
  const made = (signature: Uint8Array, changed = message) => ({ publicKey, signature, message: changed });
  const withR = (scalarOfR: bigint, bytes: Uint8Array) => made(signWith(secret, publicKey, scalarOfR, bytes, message));
  switch (name) {
    case 'identity R':
      return withR(0n, IDENTITY);
    case 'identity R as negative zero':
      return withR(0n, NEGATIVE_ZERO);
    case 'identity R as y = p + 1':
      return withR(0n, numberToBytes(P + 1n));
    case 'R plus torsion':
      return withR(nonce, r.add(t).toBytes());
    case 'small-order R':
      return withR(0n, t.toBytes());
    case 'S plus L':
      return made(join(honest.subarray(0, 32), bytesToNumber(honest.subarray(32)) + L));
    case 'S negated':
      return made(join(honest.subarray(0, 32), (L - bytesToNumber(honest.subarray(32))) % L));
    case 'bit of R':
      return made(flip(honest, bit));
    case 'bit of S':
      return made(flip(honest, 256 + bit));
    case 'bit of message':
      return made(honest, message.length === 0 ? Uint8Array.of(1) : flip(message, bit % (message.length * 8)));
    case 'other key':
      return { ...made(honest), publicKey: Point.BASE.multiply((secret % (L - 1n)) + 1n).toBytes() };
    case 'R sign bit':
      return made(flip(honest, 255));
    default:
      return made(honest);
  }
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
