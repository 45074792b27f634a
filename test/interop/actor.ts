// Whoever acts in this run: key pairs of its own behind the official `SigningKey`, and what it currently is.
import { generateKeyPairSync } from 'node:crypto';
import type { JsonObject, KeyBinding, OfficialSdk, Principal, SigningKey } from './sdk.ts';

export interface KeyPair {
  readonly publicKey: string;
  /** The private key, so that our own SDK can sign as the same actor. */
  readonly seed: Uint8Array;
  readonly key: SigningKey;
}

export class Actor {
  readonly name: string;
  readonly principal: Principal;
  /** What it signs with from now on. */
  pair: KeyPair;
  token = '';
  sessionEpoch: number | undefined;
  /** By Group. */
  readonly membershipEpochs = new Map<string, number>();
  private pairsMade = 0;
  private readonly sdk: OfficialSdk;

  constructor(sdk: OfficialSdk, type: Principal['type'], name: string) {
    this.sdk = sdk;
    this.name = name;
    this.principal = { type, id: `https://interop.example/${type}s/${name}` };
    this.pair = this.newPair();
  }

  get key(): SigningKey {
    return this.pair.key;
  }

  get publicKey(): string {
    return this.pair.publicKey;
  }

  get seed(): Uint8Array {
    return this.pair.seed;
  }

  /** Known to nobody yet. */
  newPair(): KeyPair {
    const { privateKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    this.pairsMade += 1;
    const keyId = `${this.principal.id}/keys/${this.pairsMade}`;
    const key: SigningKey = { algorithm: 'Ed25519', keyId, sign: (bytes) => this.sdk.signBytes(bytes, privateKey) };
    return { publicKey: x, seed: Buffer.from(d, 'base64url'), key };
  }

  /** By the official codec. */
  sign(kind: string, unsigned: JsonObject): JsonObject {
    return this.sdk.codec.sign(kind, unsigned, this.key);
  }

  /** What is built meanwhile is signed with this pair. */
  under<Built>(pair: KeyPair, build: () => Built): Built {
    const current = this.pair;
    this.pair = pair;
    try {
      return build();
    } finally {
      this.pair = current;
    }
  }

  binding(validFrom: string, { key, publicKey }: KeyPair = this.pair): KeyBinding {
    const { keyId, algorithm } = key;
    return { keyId, principal: this.principal, algorithm, publicKey, validFrom, validityHistory: [] };
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
