// The three ways to judge one signature: the fast path with the thread pool, the same on a machine of one core, and the
// strict path in the words of the specification.
import type * as Os from 'node:os';
import { expect, vi } from 'vitest';
import { encodeBase64url } from '../../src/wire/base64url.ts';

/** The module as it is on a machine of so many cores. */
async function onCores(cores: number) {
  vi.resetModules();
  vi.doMock('node:os', async (original) => ({ ...(await original<typeof Os>()), availableParallelism: () => cores }));
  const ed25519 = await import('../../src/trust/ed25519.ts');
  vi.doUnmock('node:os');
  return ed25519;
}

export const inPool = await onCores(2);
export const inPlace = await onCores(1);

export interface Judged {
  publicKey: Uint8Array;
  signature: Uint8Array;
  message: Uint8Array;
}

/** As verify.ts walks it: the key was imported, the length and S were looked at in stage 3. */
export async function fastVerify({ publicKey, signature, message }: Judged, way = inPool): Promise<boolean> {
  const imported = inPool.importPublicKey(encodeBase64url(publicKey));
  if (!imported.ok || signature.length !== 64 || !way.isScalarInRange(signature)) return false;
  return way.nativeVerify(imported.key, signature, message);
}

export function strictVerify({ publicKey, signature, message }: Judged): boolean {
  return inPool.strictVerify(publicKey, signature, message);
}

/** All three say what the protocol demands. */
export async function expectVerdict(judged: Judged, demanded: boolean, name?: string): Promise<void> {
  const found = {
    inPool: await fastVerify(judged),
    inPlace: await fastVerify(judged, inPlace),
    strict: strictVerify(judged),
  };
  expect(found, name).toEqual({ inPool: demanded, inPlace: demanded, strict: demanded });
}
