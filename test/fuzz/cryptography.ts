// How many requests had a signature verified: the platform's verifier is counted, for the request that it works for.
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

export interface Verifications {
  count: number;
}

const current = new AsyncLocalStorage<Verifications>();

/** Before anything that verifies is called; modules that have imported `verify` by name see the counting one. */
export function countVerifications(): void {
  const { verify } = crypto;
  crypto.verify = ((...args: Parameters<typeof verify>) => {
    const request = current.getStore();
    if (request) request.count += 1;
    return verify(...args);
  }) as typeof verify;
  syncBuiltinESMExports();
}

export function countingIn<Result>(verifications: Verifications, work: () => Promise<Result>): Promise<Result> {
  return current.run(verifications, work);
}
