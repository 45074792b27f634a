// Whoever acts in this run: a key pair of its own behind the official `SigningKey`, and what it currently is.
import { generateKeyPairSync } from 'node:crypto';
import type { JsonObject, KeyBinding, OfficialSdk, Principal, SigningKey } from './sdk.ts';

export class Actor {
  readonly name: string;
  readonly principal: Principal;
  readonly publicKey: string;
  /** The private key, so that our own SDK can sign as the same actor. */
  readonly seed: Uint8Array;
  readonly key: SigningKey;
  token = '';
  sessionEpoch: number | undefined;
  /** By Group. */
  readonly membershipEpochs = new Map<string, number>();
  private readonly sdk: OfficialSdk;

  constructor(sdk: OfficialSdk, type: Principal['type'], name: string) {
    this.sdk = sdk;
    this.name = name;
    this.principal = { type, id: `https://interop.example/${type}s/${name}` };
    const { privateKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    this.publicKey = x;
    this.seed = Buffer.from(d, 'base64url');
    const keyId = `${this.principal.id}/keys/1`;
    this.key = { algorithm: 'Ed25519', keyId, sign: (bytes) => sdk.signBytes(bytes, privateKey) };
  }

  /** By the official codec. */
  sign(kind: string, unsigned: JsonObject): JsonObject {
    return this.sdk.codec.sign(kind, unsigned, this.key);
  }

  binding(validFrom: string): KeyBinding {
    const { principal, publicKey } = this;
    const { keyId, algorithm } = this.key;
    return { keyId, principal, algorithm, publicKey, validFrom, validityHistory: [] };
  }

  /** As a Command carries them; who only creates a Group has none in it. */
  epochsIn(groupId: string): JsonObject {
    const membershipEpoch = this.membershipEpochs.get(groupId);
    return {
      ...(this.sessionEpoch !== undefined && { sessionEpoch: this.sessionEpoch }),
      ...(membershipEpoch !== undefined && { membershipEpoch }),
    };
  }
}
