// Ten thousand genuine signatures, most of them with one bit turned, through the fast path; and a share of them through
// the strict one, which takes milliseconds each. TEST_STRICT_EVERY=1 takes all, TEST_SEED repeats a run.
import { createHash, createPrivateKey, randomInt, sign, type KeyObject } from 'node:crypto';
import { Point } from '@noble/ed25519';
import { describe, expect, it } from 'vitest';
import { isScalarInRange, L, publicKeyPointFault } from '../../src/trust/ed25519.ts';
import { Random } from '../fuzz/random.ts';
import { bytesToNumber, challenge, flip } from './curve.ts';
import { expectVerdict, fastVerify, type Judged } from './paths.ts';

const COUNT = 10_000;
const STRICT_EVERY = Number(process.env['TEST_STRICT_EVERY'] ?? 50);
const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));
const KEYS = 100;
type Turned = 'nothing' | 'R' | 'S' | 'A' | 'message';
/** By turns. A is the rarest: each is a new key, whose import alone takes a millisecond. */
const TURNED: readonly Turned[] = ['nothing', 'R', 'S', 'message', 'nothing', 'R', 'S', 'message', 'R', 'A'];

interface Key {
  privateKey: KeyObject;
  publicKey: Uint8Array;
  /** RFC 8032 section 5.1.5: the secret scalar, and what the nonce of a message is made of. */
  scalar: bigint;
  prefix: Uint8Array;
}

function keyOf(seed: Uint8Array): Key {
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const digest = createHash('sha512').update(seed).digest();
  const scalar = ((bytesToNumber(digest.subarray(0, 32)) & (2n ** 254n - 8n)) | (2n ** 254n)) % L;
  return { privateKey, publicKey: Point.BASE.multiply(scalar).toBytes(), scalar, prefix: digest.subarray(32) };
}

interface Case extends Judged {
  turned: Turned;
  key: Key;
  nonce: bigint;
}

function drawCase(random: Random, keys: readonly Key[], at: number): Case {
  const key = random.pick(keys);
  const message = random.bytes(random.between(1, 200));
  const signature = Uint8Array.from(sign(null, message, key.privateKey));
  const nonce = bytesToNumber(createHash('sha512').update(key.prefix).update(message).digest()) % L;
  const turned = TURNED[at % TURNED.length] ?? 'nothing';
  const one = { key, nonce, turned, publicKey: key.publicKey, signature, message };
  switch (turned) {
    case 'R':
      return { ...one, signature: flip(signature, random.below(256)) };
    case 'S':
      return { ...one, signature: flip(signature, 256 + random.below(256)) };
    case 'A':
      return { ...one, publicKey: flip(key.publicKey, random.below(256)) };
    case 'message':
      return { ...one, message: flip(message, random.below(8 * message.length)) };
    case 'nothing':
      return one;
  }
}

/**
 * What MWP-SDV-003, -005 and -006 demand, out of the secrets, which no verifier has: S of the one good signature with
 * this nonce, or the one encoding of R that goes with this S. Exact, and most of it is arithmetic of numbers alone.
 */
function demanded({ turned, key, nonce, publicKey, signature, message }: Case): boolean {
  const r = signature.subarray(0, 32);
  const s = bytesToNumber(signature.subarray(32));
  if (s >= L) return false;
  const k = challenge(r, publicKey, message);
  if (turned === 'A') {
    if (publicKeyPointFault(publicKey) !== undefined) return false;
    const right = Point.BASE.multiply(s, false).subtract(Point.fromBytes(publicKey).multiply(k, false));
    return Buffer.from(r).equals(right.toBytes());
  }
  if (turned === 'R') {
    const ofR = (s + (L - k) * key.scalar) % L;
    return Buffer.from(r).equals(Point.BASE.multiply(ofR, false).toBytes());
  }
  return s === (nonce + k * key.scalar) % L;
}

describe('signatures at random', () => {
  it(
    `MWP-SDV-003, MWP-SDV-005, MWP-SDV-006: ${COUNT} are judged by the fast path as their secrets judge them (seed ${SEED})`,
    { timeout: 60_000 + (COUNT / STRICT_EVERY) * 100 },
    async () => {
      const keys = Array.from({ length: KEYS }, (_, at) => keyOf(new Random(SEED, COUNT + at).bytes(32)));
      const accepted = Object.fromEntries(TURNED.map((turned) => [turned, 0]));
      let outOfRange = 0;
      let strictly = 0;
      for (let at = 0; at < COUNT; at += 1) {
        const random = new Random(SEED, at);
        const one = drawCase(random, keys, at);
        const expected = demanded(one);
        expect(await fastVerify(one), `case ${at}`).toBe(expected);
        if (random.below(STRICT_EVERY) === 0) {
          strictly += 1;
          await expectVerdict(one, expected, `case ${at}`);
        }
        if (expected) accepted[one.turned] = (accepted[one.turned] ?? 0) + 1;
        if (!isScalarInRange(one.signature)) outOfRange += 1;
      }
      expect(accepted).toEqual({ nothing: COUNT / 5, R: 0, S: 0, A: 0, message: 0 });
      expect(outOfRange).toBeGreaterThan(0);
      expect(strictly).toBeGreaterThan(COUNT / STRICT_EVERY / 2);
    },
  );
});
