// Everything random out of a seed, for whoever runs `withSeed`: the same calls in the same order give the same ids, keys
// and salts, in the service as in its clients. Others keep the real thing. For `vi.mock('node:crypto', …)` only.
import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Crypto from 'node:crypto';

interface Source {
  seed: string;
  drawn: number;
}

const sources = new AsyncLocalStorage<Source>();

export function withSeed<Result>(seed: string, work: () => Result): Result {
  return sources.run({ seed, drawn: 0 }, work);
}

/** DER header of a PKCS #8 Ed25519 key (RFC 8410); the 32-byte seed follows it. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

export function seededCrypto(actual: typeof Crypto): typeof Crypto {
  const bytes = (length: number): Buffer => {
    const source = sources.getStore();
    if (!source) return actual.randomBytes(length);
    source.drawn += 1;
    return actual.createHash('shake256', { outputLength: length }).update(`${source.seed} ${source.drawn}`).digest();
  };
  const uuid = () => {
    const hex = bytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const keyPair = (type: string) => {
    if (type !== 'ed25519') throw new Error(`no seeded key pair of ${type}`);
    const key = Buffer.concat([PKCS8_HEADER, bytes(32)]);
    const privateKey = actual.createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    return { privateKey, publicKey: actual.createPublicKey(privateKey) };
  };
  return { ...actual, randomBytes: bytes, randomUUID: uuid, generateKeyPairSync: keyPair } as never;
}
