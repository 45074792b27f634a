// The official SDK as this run uses it: its types are written down here, its code is loaded from the folder where it was
// built and is never part of the project.
import type { KeyObject } from 'node:crypto';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Principal {
  readonly type: 'agent' | 'human' | 'service';
  readonly id: string;
}

export interface SigningKey {
  readonly algorithm: 'Ed25519';
  readonly keyId: string;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

export interface KeyValidityRecord {
  readonly sequence: number;
  readonly recordedAt: string;
  readonly validUntil?: string;
  readonly revokedAt?: string;
}

export interface KeyBinding {
  readonly keyId: string;
  readonly principal: Principal;
  readonly algorithm: 'Ed25519';
  readonly publicKey: string;
  readonly validFrom: string;
  readonly validityHistory: readonly KeyValidityRecord[];
}

export interface KeyRegistrySnapshot {
  readonly completeness: 'organization-wide';
  readonly organizationId: string;
  readonly bindings: readonly KeyBinding[];
}

export interface VerifiedDocument {
  readonly document: JsonObject;
  readonly signingHash: string;
  readonly resolvedKey: { readonly keyId: string; readonly principal: Principal };
}

export interface Codec {
  sign(kind: string, unsigned: JsonObject, key: SigningKey): JsonObject;
  /** Throws an error with `wireCode`, and with `auditDetail` about the stage. */
  verify(kind: string, bytes: Uint8Array, resolver: { resolve: () => KeyRegistrySnapshot }): VerifiedDocument;
}

export interface SchemaFault {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly message?: string;
}

export interface Catalog {
  readonly names: readonly string[];
  validate(schema: string, value: unknown): { readonly valid: boolean; readonly errors: readonly SchemaFault[] };
}

interface Exports {
  readonly SchemaCatalog: { load(): Catalog };
  readonly SignedDocumentCodec: new () => Codec;
  readonly canonicalizeJson: (value: unknown) => string;
  readonly parseStrictJson: (input: string | Uint8Array) => unknown;
  readonly sha256Identifier: (value: string | Uint8Array) => string;
  readonly sha256Hex: (value: string | Uint8Array) => string;
  readonly decodeBase64Url: (value: string) => Uint8Array;
  readonly encodeBase64Url: (value: Uint8Array) => string;
  readonly signBytes: (value: Uint8Array, privateKey: KeyObject) => Uint8Array;
  readonly verifyBytes: (value: Uint8Array, signature: Uint8Array, publicKey: KeyObject) => boolean;
}

export interface OfficialSdk extends Omit<Exports, 'SchemaCatalog' | 'SignedDocumentCodec'> {
  readonly codec: Codec;
  readonly catalog: Catalog;
}

export async function loadSdk(folder: string): Promise<OfficialSdk> {
  const entry = pathToFileURL(join(resolve(folder), 'dist', 'index.js'));
  const { SchemaCatalog, SignedDocumentCodec, ...functions } = (await import(entry.href)) as Exports;
  return { ...functions, codec: new SignedDocumentCodec(), catalog: SchemaCatalog.load() };
}

/** `accepted`, or the wire code with which the official codec refuses the bytes. */
export function officialVerdict(
  { codec }: OfficialSdk,
  kind: string,
  bytes: Uint8Array,
  registry: KeyRegistrySnapshot,
) {
  try {
    codec.verify(kind, bytes, { resolve: () => registry });
    return 'accepted';
  } catch (error) {
    const { wireCode } = error as { wireCode?: string };
    if (wireCode === undefined) throw error;
    return wireCode;
  }
}
