// Is it signed by the one it names? With public keys and the platform's verifier, nothing of the service.

import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import type { Event } from '../../protocol/documents/event.ts';
import type { Signature } from '../../protocol/documents/shapes.ts';
import { samePrincipal, type Principal } from '../../protocol/principals.ts';
import { expectedSignerOf, type SignedDocument } from '../../trust/signed-kinds.ts';
import { signingBytes } from '../../trust/signing.ts';
import { decodeBase64url } from '../../wire/base64url.ts';

export interface ListedKey {
  readonly keyId: string;
  readonly principal: Principal;
  readonly publicKey: string;
}

export interface SignedByActor {
  readonly kind: 'artifact' | 'evidence' | 'approval';
  readonly document: SignedDocument<'artifact' | 'evidence' | 'approval'>;
}

type KeyRing = ReadonlyMap<string, { readonly principal: Principal; readonly key: KeyObject }>;

export function keyRing(keys: readonly ListedKey[]): KeyRing {
  return new Map(
    keys.map(({ keyId, principal, publicKey }) => {
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
      return [keyId, { principal, key }];
    }),
  );
}

/** The signature holds under a key on the ring, and that key is of whom the document names as its signer. */
export function isGenuine(item: Event | SignedByActor, ring: KeyRing): boolean {
  const { kind, document } = 'document' in item ? item : { kind: 'event' as const, document: item };
  const { signature } = document as { signature: Signature };
  const held = ring.get(signature.keyId);
  const value = decodeBase64url(signature.value);
  const signer = expectedSignerOf(kind, document);
  if (held === undefined || value === undefined || signer === 'any-service') return false;
  return samePrincipal(held.principal, signer) && verify(null, signingBytes(document), held.key, value);
}
