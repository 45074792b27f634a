// A good Command, altered after it was signed: in its envelope (stage 3) or so that the signature is of something else
// (stage 6). Each with what the protected audit says of it.
import { L } from '../../src/trust/ed25519.ts';
import type { Signer } from '../../src/trust/signing.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { canonicalBytes } from '../../src/wire/canonical.ts';

export type Json = Record<string, unknown> & { signature: Record<string, unknown> & { value: string } };

/** A point of order 8. */
const TORSION = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a';

/** `signed`: a fresh Command each time. */
export function alteredCommands(signed: () => Uint8Array, signer: Signer) {
  const made = (name: string, audit: string, bytes: () => Uint8Array) => ({ name, audit, bytes });
  const altered = (change: (command: Json) => void) => () => {
    const document = JSON.parse(Buffer.from(signed()).toString()) as Json;
    change(document);
    return Buffer.from(JSON.stringify(document));
  };
  const valued = (change: (raw: Buffer, document: Json) => Uint8Array) =>
    altered((document) => {
      const raw = Buffer.from(document.signature.value, 'base64url');
      document.signature.value = encodeBase64url(change(raw, document));
    });
  const timed = (issued: (time: string) => string, created = issued) =>
    altered((document) => {
      const time = document['issuedAt'] as string;
      document['issuedAt'] = issued(time);
      document.signature['createdAt'] = created(time);
    });

  const stage3 = 'signature-envelope';
  return [
    made(
      'times in small z',
      `${stage3} time-without-capital-z`,
      timed((time) => time.replace('Z', 'z')),
    ),
    made(
      'times at an offset',
      `${stage3} time-without-capital-z`,
      timed((time) => time.replace('Z', '+00:00')),
    ),
    made(
      'its time spelled otherwise in the signature',
      `${stage3} created-at-differs-from-protected-time`,
      timed(
        (time) => time,
        (time) => time.replace('Z', '0Z'),
      ),
    ),
    made(
      'spare bits in the signature',
      `${stage3} signature-not-canonical-base64url`,
      altered(({ signature }) => (signature.value = `${signature.value.slice(0, -1)}B`)),
    ),
    made(
      'a byte too few',
      `${stage3} signature-not-64-bytes`,
      valued((raw) => raw.subarray(1)),
    ),
    made('S beyond L', `${stage3} s-out-of-range`, valued(withSBeyondL)),
    made('R off the curve', `${stage3} r-not-a-canonical-point`, valued(withR(`02${'00'.repeat(31)}`))),
    made('R of small order', `${stage3} r-not-in-prime-order-subgroup`, valued(withR(TORSION))),
    made(
      'other content',
      'signature equation-fails',
      altered((document) => (document['correlationId'] = 'urn:test:other')),
    ),
    made('the signature of another Command', 'signature equation-fails', () =>
      altered((document) => (document.signature.value = signatureOf(signed())))(),
    ),
    made(
      'a signature that covers its own envelope',
      'signature equation-fails',
      valued((_raw, { signature: { value: _value, ...envelope }, ...rest }) =>
        signer.sign(canonicalBytes({ ...rest, signature: envelope })),
      ),
    ),
  ];
}

function signatureOf(bytes: Uint8Array): string {
  return (JSON.parse(Buffer.from(bytes).toString()) as Json).signature.value;
}

const withR = (hex: string) => (raw: Buffer) => Buffer.concat([Buffer.from(hex, 'hex'), raw.subarray(32)]);

/** The same signature modulo L. */
function withSBeyondL(raw: Buffer): Uint8Array {
  const s = BigInt(`0x${Buffer.from(raw.subarray(32)).reverse().toString('hex')}`) + L;
  return Buffer.concat([raw.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);
}
