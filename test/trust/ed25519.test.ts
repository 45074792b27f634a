import { createHook } from 'node:async_hooks';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { Point } from '@noble/ed25519';
import { describe, expect, it } from 'vitest';
import { importPublicKey, isScalarInRange, L, publicKeyPointFault, signatureRFault } from '../../src/trust/ed25519.ts';
import { generateKeyPair, publicKeyFromSeed, signerFromSeed } from '../../src/trust/signing.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { bytesToNumber, hex, IDENTITY, join, NEGATIVE_ZERO, numberToBytes, P, signWith } from './curve.ts';
import { TORSION } from './curve.ts';
import { expectVerdict, fastVerify, inPlace, inPool, strictVerify } from './paths.ts';

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
  ])(
    'MWP-FND-003a, MWP-SDV-006: RFC 8032 key %s signs and verifies as published',
    async (seed, publicKey, message, signature) => {
      expect(publicKeyFromSeed(hex(seed))).toBe(encodeBase64url(hex(publicKey)));
      expect(Buffer.from(signerFromSeed('urn:k', hex(seed)).sign(hex(message))).toString('hex')).toBe(signature);
      await expectVerdict({ publicKey: hex(publicKey), signature: hex(signature), message: hex(message) }, true);
    },
  );

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
    await expectVerdict({ publicKey, signature, message }, false);
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
      expect(strictVerify({ publicKey: mixed, signature, message })).toBe(false);
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
    const bytes = Buffer.from(publicKey, 'base64url');
    await expectVerdict({ publicKey: bytes, signature: good, message }, true);
    await expectVerdict({ publicKey: bytes, signature: raised, message }, false);
  });

  it('MWP-SDV-005a: a key is imported once and answered from memory after', () => {
    const { publicKey } = generateKeyPair();
    const [first, second] = [importPublicKey(publicKey), importPublicKey(publicKey)];
    expect(first.ok && second.ok && first.key === second.key).toBe(true);
  });

  it('MWP-SDV-006: the thread pool verifies where there is another core, and on a single one nothing is sent there', async () => {
    const { seed, publicKey } = generateKeyPair();
    const message = Buffer.from('m');
    const signature = signerFromSeed('urn:k', seed).sign(message);
    const requests = new Set<number>();
    let calledBack = 0;
    // Either form is a request; only the one of the pool is called back.
    const hook = createHook({
      init: (id, type) => void (type === 'SIGNREQUEST' && requests.add(id)),
      before: (id) => void (requests.has(id) && (calledBack += 1)),
    }).enable();
    const judged = { publicKey: Buffer.from(publicKey, 'base64url'), signature, message };
    try {
      expect(await fastVerify(judged, inPlace)).toBe(true);
      expect(calledBack).toBe(0);
      expect(await fastVerify(judged, inPool)).toBe(true);
      expect(calledBack).toBe(1);
      expect(requests.size).toBe(2);
    } finally {
      hook.disable();
    }
  });
});
