// Keys at rest and derived keys. A tenant's private keys are sealed under the master key and bound to their Organization
// and key id, so that a row copied to another place does not open; every purpose has a subkey of its own.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { canonicalBytes } from '../wire/canonical.ts';
import { decodeBase64url, encodeBase64url } from '../wire/base64url.ts';

/** Raised when sealing changes; texts of older versions stay readable. */
const SEAL_VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SUBKEY_BYTES = 32;

/** What a subkey is for. Never one key for two purposes. */
export type SubkeyPurpose = 'seal' | 'challenge' | 'token' | 'registry';

/** Where a sealed key belongs; authenticated with it. */
export interface SealedPlace {
  organizationId: string;
  keyId: string;
}

/** The sealed text does not open here: altered, moved, or sealed under another master key. */
export class UnsealFault extends Error {
  constructor(place: SealedPlace) {
    super(`the sealed key ${place.keyId} does not open; is MWP_MASTER_KEY the one that it was sealed under?`);
    this.name = 'UnsealFault';
  }
}

export class KeyVault {
  readonly #masterKey: Uint8Array;

  /** `masterKey`: 32 bytes. */
  constructor(masterKey: Uint8Array) {
    this.#masterKey = Uint8Array.from(masterKey);
  }

  /** 32 bytes, the same in every process under this master key. */
  subkey(purpose: SubkeyPurpose, organizationId: string): Uint8Array {
    const info = `mwp-authority ${purpose} ${organizationId}`;
    return new Uint8Array(hkdfSync('sha256', this.#masterKey, new Uint8Array(0), info, SUBKEY_BYTES));
  }

  /** `v1.<iv>.<ciphertext and tag>`, base64url. Two seals of the same secret differ. */
  seal(secret: Uint8Array, place: SealedPlace): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.subkey('seal', place.organizationId), iv);
    cipher.setAAD(placeBytes(place));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return `${SEAL_VERSION}.${encodeBase64url(iv)}.${encodeBase64url(sealed)}`;
  }

  /** Throws UnsealFault. */
  open(text: string, place: SealedPlace): Uint8Array {
    const [version, ivText = '', sealedText = '', ...rest] = text.split('.');
    const iv = decodeBase64url(ivText);
    const sealed = decodeBase64url(sealedText);
    if (version !== SEAL_VERSION || rest.length > 0 || iv?.length !== IV_BYTES) throw new UnsealFault(place);
    if (!sealed || sealed.length < TAG_BYTES) throw new UnsealFault(place);
    const decipher = createDecipheriv(CIPHER, this.subkey('seal', place.organizationId), iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(placeBytes(place));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]));
    } catch {
      throw new UnsealFault(place);
    }
  }
}

function placeBytes({ organizationId, keyId }: SealedPlace): Uint8Array {
  return canonicalBytes([SEAL_VERSION, organizationId, keyId]);
}
