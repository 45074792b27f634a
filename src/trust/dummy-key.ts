// A key that nobody holds, for the work that an unknown key must cost, so that timing tells nothing (design section 5).
import { importPublicKey, type PublicKey } from './ed25519.ts';
import type { KeyBinding } from './evidence.ts';
import { generateKeyPair } from './signing.ts';

const { publicKey } = generateKeyPair();

export const DUMMY_KEY: PublicKey = freshKey();

/** What is looked at in the place of a binding that is not there. No key is ever taken from it. */
export const NOBODYS_BINDING: KeyBinding = {
  keyId: 'urn:nobody',
  principal: { type: 'service', id: 'urn:nobody' },
  algorithm: 'Ed25519',
  publicKey,
  validFrom: '2020-01-01T00:00:00Z',
  history: [],
};

function freshKey(): PublicKey {
  const imported = importPublicKey(publicKey);
  if (!imported.ok) throw new Error('a generated key does not pass our own check');
  return imported.key;
}
