// A JSON number to the nearest binary64, ties to even, in exact integers: what RFC 8259 section 6 and MWP-FND-006b mean,
// without the platform's own conversion.

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** 10^±400 is well beyond binary64 on either side, and no power that large need be written out. */
const FAR = 400;
const LEAST_EXPONENT = -1074;
const PRECISION = 53;

export function nearestBinary64(literal: string): number {
  const parts = NUMBER.exec(literal);
  if (parts === null) throw new Error('no JSON number');
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  const magnitude = nearestMagnitude(BigInt(whole + fraction), Number(exponent) - fraction.length);
  return sign === '-' ? -magnitude : magnitude;
}

/** Of digits × 10^exponent. */
function nearestMagnitude(digits: bigint, exponent: number): number {
  if (digits === 0n) return 0;
  const size = String(digits).length + exponent;
  if (size > FAR) return Infinity;
  if (size < -FAR) return 0;
  const numerator = exponent > 0 ? digits * 10n ** BigInt(exponent) : digits;
  const denominator = exponent < 0 ? 10n ** BigInt(-exponent) : 1n;

  // The value is mantissa × 2^scale, the mantissa of 53 bits or, at the bottom of the range, of fewer.
  const fractionAt = (scale: number): [top: bigint, bottom: bigint] =>
    scale < 0 ? [numerator << BigInt(-scale), denominator] : [numerator, denominator << BigInt(scale)];
  let scale = Math.max(bitLength(numerator) - bitLength(denominator) - PRECISION, LEAST_EXPONENT);
  let [top, bottom] = fractionAt(scale);
  while (top >= bottom << BigInt(PRECISION)) [top, bottom] = fractionAt((scale += 1));

  const floor = top / bottom;
  const doubledRest = (top % bottom) * 2n;
  const isUp = doubledRest > bottom || (doubledRest === bottom && floor % 2n === 1n);
  return Number(isUp ? floor + 1n : floor) * 2 ** scale;
}

function bitLength(value: bigint): number {
  return value.toString(2).length;
}
