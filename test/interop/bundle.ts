// What a stranger finds in an exported Group who has the official SDK and the file, and nothing of ours: lines read by the
// official strict parser, keys from the file itself.
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JsonObject, KeyBinding, KeyRegistrySnapshot, KeyValidityRecord, OfficialSdk } from './sdk.ts';

export interface Bundle {
  readonly registry: KeyRegistrySnapshot;
  /** By kind of line, in order. */
  readonly rows: (line: string) => readonly JsonObject[];
  readonly statement: JsonObject;
  /** Every byte before the statement. */
  readonly before: string;
  readonly linesBefore: number;
}

type Line = JsonObject & { readonly line: string; readonly row?: JsonObject };
type ExportedKey = Omit<KeyBinding, 'validityHistory'> & { readonly history: readonly KeyValidityRecord[] };

export function readBundle(sdk: OfficialSdk, text: string): Bundle {
  const texts = text.split('\n').slice(0, -1);
  const lines = texts.map((each) => sdk.parseStrictJson(each) as Line);
  const [header, statement] = [lines[0], lines.at(-1)];
  if (header?.line !== 'header' || statement?.line !== 'statement') throw new Error('not a bundle from end to end');
  const bindings = lines
    .filter(({ line }) => line === 'key')
    .map((line) => {
      const { history, ...binding } = line['binding'] as ExportedKey;
      return { ...binding, validityHistory: history };
    });
  return {
    registry: { completeness: 'organization-wide', organizationId: String(header['organizationId']), bindings },
    rows: (kind) => lines.filter(({ line }) => line === kind).map(({ row }) => row ?? {}),
    statement,
    before: `${texts.slice(0, -1).join('\n')}\n`,
    linesBefore: texts.length - 1,
  };
}

/** What speaks against the row of a Signed Document, by the official codec, canonical form and hash. */
export function rowFaults(sdk: OfficialSdk, kind: string, row: JsonObject, registry: KeyRegistrySnapshot): string[] {
  const where = `${kind} ${String(row['signingHash'])}`;
  const body = String(row['body']);
  try {
    const bytes = Buffer.from(body, 'utf8');
    const { document, signingHash, resolvedKey } = sdk.codec.verify(kind, bytes, { resolve: () => registry });
    const { signature: _signature, ...unsigned } = document;
    const hash = sdk.sha256Identifier(sdk.canonicalizeJson(unsigned));
    const faults: string[] = [];
    if (signingHash !== row['signingHash'] || hash !== signingHash) faults.push(`${where}: the hash is ${hash}`);
    if (resolvedKey.keyId !== row['keyId']) faults.push(`${where}: the key is ${resolvedKey.keyId}`);
    // A Command is kept as it came; what the authority writes is canonical.
    if (kind === 'event' && sdk.canonicalizeJson(document) !== body) faults.push(`${where}: not canonical`);
    return faults;
  } catch (error) {
    const { wireCode, auditDetail } = error as { wireCode?: string; auditDetail?: unknown };
    return [`${where}: ${wireCode ?? String(error)} ${JSON.stringify(auditDetail)}`];
  }
}

/** What speaks against the last line: its hash of all before, and the authority's signature. */
export function statementFaults(sdk: OfficialSdk, bundle: Bundle): string[] {
  const { statement, registry, before, linesBefore } = bundle;
  const { signature, ...unsigned } = statement;
  const binding = registry.bindings.find(({ keyId }) => keyId === statement['keyId']);
  if (binding === undefined) return ['its key is not in the bundle'];
  const signed = Buffer.from(sdk.canonicalizeJson(unsigned), 'utf8');
  const isSigned = sdk.verifyBytes(signed, sdk.decodeBase64Url(String(signature)), keyObject(binding.publicKey));
  const isOfTheseLines = statement['lines'] === linesBefore && statement['sha256'] === sdk.sha256Hex(before);
  return [...(isSigned ? [] : ['its signature is wrong']), ...(isOfTheseLines ? [] : ['it is of other lines'])];
}

function keyObject(publicKey: string): KeyObject {
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: publicKey } });
}
