// A key that nobody holds, for the work that an unknown key must cost, so that timing tells nothing (design section 5).
import { importPublicKey, type PublicKey } from './ed25519.ts';
import { generateKeyPair } from './signing.ts';

export const DUMMY_KEY: PublicKey = freshKey();

function freshKey(): PublicKey {
  const imported = importPublicKey(generateKeyPair().publicKey);
  if (!imported.ok) throw new Error('a generated key does not pass our own check');
  return imported.key;
}
