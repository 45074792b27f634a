// The fast path and the strict path are one: for forgeries of every sort both say what the protocol demands.
import { Point } from '@noble/ed25519';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { L } from '../../src/trust/ed25519.ts';
import { bytesToNumber, challenge, flip, IDENTITY, join, NEGATIVE_ZERO, numberToBytes, P, signWith } from './curve.ts';
import { TORSION, TORSION_POINTS, withSign } from './curve.ts';
import { expectVerdict, strictVerify } from './paths.ts';

const MESSAGE = Buffer.from('what all of these sign');
const [SECRET, NONCE] = [0x1234_5678_9abc_def0_1357n ** 3n % L, 0xfeed_beef_cafe_0123n ** 4n % L];
const KEY = Point.BASE.multiply(SECRET);
const A = KEY.toBytes();
const R = Point.BASE.multiply(NONCE);
const GOOD = signWith(SECRET, A, NONCE, R.toBytes(), MESSAGE);

/** Every spelling of a small number of the y coordinate that a lenient decoder takes for it: p + y and the other sign. */
const OTHER_SPELLINGS = Array.from({ length: 19 }, (_, y) => numberToBytes(P + BigInt(y)))
  .flatMap((bytes) => [bytes, withSign(bytes)])
  .concat(NEGATIVE_ZERO, withSign(numberToBytes(P - 1n)));

/** A message under which the equation without a cofactor holds, although A is no sound key: what must stop it is the key. */
function messageFor(a: Uint8Array, rBytes: Uint8Array, residue: (k: bigint) => Point): Uint8Array | undefined {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const message = Buffer.from(`attempt ${attempt}`);
    if (residue(challenge(rBytes, a, message)).is0()) return message;
  }
  return undefined;
}
const times = (point: Point, k: bigint) => (k % 8n === 0n ? Point.ZERO : point.multiply(k % 8n, false));

describe('forged on purpose', () => {
  it('MWP-SDV-003: a good signature passes, and with each single bit flipped nowhere', async () => {
    await expectVerdict({ publicKey: A, signature: GOOD, message: MESSAGE }, true);
    // All of the last bytes of R and S, where the sign and the range are; a seventh of the rest.
    const bits = Array.from({ length: 512 }, (_, bit) => bit).filter((bit) => bit % 256 > 247 || bit % 7 === 0);
    for (const bit of bits) {
      await expectVerdict({ publicKey: A, signature: flip(GOOD, bit), message: MESSAGE }, false, `bit ${bit}`);
    }
  });

  it.each(TORSION_POINTS.map((point, at) => ({ point, at })))(
    'MWP-SDV-003: R of the torsion point $at passes as the identity alone, though the equation times 8 holds',
    async ({ point, at }) => {
      const alone = signWith(SECRET, A, 0n, point.toBytes(), MESSAGE);
      await expectVerdict({ publicKey: A, signature: alone, message: MESSAGE }, at === 0);
      const added = signWith(SECRET, A, NONCE, R.add(point).toBytes(), MESSAGE);
      await expectVerdict({ publicKey: A, signature: added, message: MESSAGE }, at === 0);
    },
  );

  it.each(TORSION_POINTS.map((point, at) => ({ point, at })))(
    'MWP-SDV-005a: the torsion point $at is no key, nor makes one of a key that it is added to',
    async ({ point, at }) => {
      const alone = point.toBytes();
      const message = messageFor(alone, R.toBytes(), (k) => times(point, k)) ?? expect.fail('no such message');
      // [S]B = R + [k]A holds exactly: k annihilates A.
      await expectVerdict({ publicKey: alone, signature: join(R.toBytes(), NONCE), message }, false);
      const mixed = KEY.add(point).toBytes();
      const good = messageFor(mixed, R.toBytes(), (k) => times(point, k)) ?? expect.fail('no such message');
      const signature = signWith(SECRET, mixed, NONCE, R.toBytes(), good);
      await expectVerdict({ publicKey: mixed, signature, message: good }, at === 0);
    },
  );

  it('MWP-SDV-003, MWP-SDV-005a: torsion in R that cancels the torsion in A leaves the equation true and passes nowhere', async () => {
    for (const [at, point] of TORSION_POINTS.entries()) {
      if (at === 0) continue;
      for (const inR of TORSION_POINTS) {
        const [mixed, rBytes] = [KEY.add(point).toBytes(), R.add(inR).toBytes()];
        const message = messageFor(mixed, rBytes, (k) => inR.add(times(point, k)));
        if (message === undefined) continue; // not in the subgroup that this point makes
        const signature = signWith(SECRET, mixed, NONCE, rBytes, message);
        await expectVerdict({ publicKey: mixed, signature, message }, false, `A + torsion ${at}`);
      }
    }
  });

  it('MWP-SDV-003: S plus every multiple of L that fits is refused; so are L, 0, L - 1 and powers of two', async () => {
    const s = bytesToNumber(GOOD.subarray(32));
    let multiples = 0;
    for (let raised = s + L; raised < 2n ** 256n; raised += L, multiples += 1) {
      await expectVerdict({ publicKey: A, signature: join(R.toBytes(), raised), message: MESSAGE }, false);
    }
    expect(multiples).toBeGreaterThanOrEqual(14);
    for (const other of [
      0n,
      1n,
      L - 1n,
      L,
      L + 1n,
      L - s,
      2n ** 252n,
      2n ** 253n,
      2n ** 254n,
      2n ** 255n,
      2n ** 256n - 1n,
    ]) {
      await expectVerdict(
        { publicKey: A, signature: join(R.toBytes(), other), message: MESSAGE },
        false,
        `S = ${other}`,
      );
    }
  });

  it('MWP-SDV-003: the identity as R with S at L and at 0 modulo L is refused where S is not below L', async () => {
    const identity = signWith(SECRET, A, 0n, IDENTITY, MESSAGE);
    const s = bytesToNumber(identity.subarray(32));
    await expectVerdict({ publicKey: A, signature: join(IDENTITY, s), message: MESSAGE }, true);
    await expectVerdict({ publicKey: A, signature: join(IDENTITY, s + L), message: MESSAGE }, false);
    await expectVerdict({ publicKey: A, signature: join(IDENTITY, (s + 1n) % L), message: MESSAGE }, false);
    for (const other of [0n, L]) {
      await expectVerdict({ publicKey: A, signature: join(IDENTITY, other), message: MESSAGE }, false);
      // Anybody could make these two for the identity as a key.
      await expectVerdict({ publicKey: IDENTITY, signature: join(IDENTITY, other), message: MESSAGE }, false);
    }
  });

  it('MWP-SDV-003, MWP-SDV-005a: no other spelling of a point passes as R or as A', async () => {
    expect(OTHER_SPELLINGS).toHaveLength(40);
    for (const bytes of OTHER_SPELLINGS) {
      const name = Buffer.from(bytes).toString('hex');
      // Holds for the two spellings of the identity: the only point here whose logarithm is known.
      const asR = signWith(SECRET, A, 0n, bytes, MESSAGE);
      await expectVerdict({ publicKey: A, signature: asR, message: MESSAGE }, false, `R ${name}`);
      await expectVerdict(
        { publicKey: bytes, signature: join(R.toBytes(), NONCE), message: MESSAGE },
        false,
        `A ${name}`,
      );
    }
  });

  it('MWP-SDV-015d: a signature of another length is none', async () => {
    for (const length of [0, 32, 63, 65, 96, 128]) {
      const signature = Uint8Array.from({ length }, (_, at) => GOOD[at % 64] ?? 0);
      await expectVerdict({ publicKey: A, signature, message: MESSAGE }, false);
    }
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

describe('forged at random', () => {
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
          const strict = strictVerify(forged);
          await expectVerdict(forged, strict);
          outcomes[strict ? 'accepted' : 'refused'] += 1;
        },
      ),
      { numRuns: 150 },
    );
    expect(outcomes.accepted).toBeGreaterThan(5);
    expect(outcomes.refused).toBeGreaterThan(50);
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
  const t = TORSION.multiply(torsion);
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
