// A conformance bundle on disk: where it lies, its files, and its digests. Reads below its root only, and no network.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalHash, sha256Label } from '../../wire/canonical.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';

export const PARTS = ['structural', 'cryptography', 'admission'] as const;
export type Part = (typeof PARTS)[number];

export const MANIFEST_OF_PART: Readonly<Record<Part, string>> = {
  structural: 'conformance/manifest.json',
  cryptography: 'cryptography/manifest.json',
  admission: 'admission/manifest.json',
};

export interface Bundle {
  readonly root: string;
  /** Bytes of a file that a manifest names. */
  read(path: string): Uint8Array;
  /** The file as strict JSON. */
  readJson(path: string): unknown;
}

/** A bundle that cannot be evaluated: a file missing, a digest that differs, a manifest of another shape. */
export class BundleFault extends Error {}

const REPOSITORY_PATH = /^(?:[a-z0-9][a-z0-9._-]*\/)*[a-z0-9][a-z0-9._-]*$/;
/** How far below the given folder the bundle may lie; enough for a checkout that keeps it in a subfolder. */
const SEARCH_DEPTH = 3;

export function openBundle(folder: string): Bundle {
  const root = findRoot(folder, SEARCH_DEPTH);
  if (root === undefined) throw new BundleFault(`no ${MANIFEST_OF_PART.structural} in or below ${folder}`);
  const read = (path: string): Uint8Array => {
    if (!REPOSITORY_PATH.test(path)) throw new BundleFault(`${path} is not a path inside the bundle`);
    try {
      return readFileSync(join(root, path));
    } catch {
      throw new BundleFault(`${path} cannot be read`);
    }
  };
  const readJson = (path: string): unknown => {
    const json = parseStrictJson(read(path));
    if (!json.ok) throw new BundleFault(`${path} is not strict JSON: ${json.fault}`);
    return json.value;
  };
  return { root, read, readJson };
}

export interface DeclaredArtifact {
  readonly path: string;
  readonly byteLength: number;
  readonly sha256: string;
}

/** The manifest's own digest, then every file that it declares. Throws BundleFault at the first difference. */
export function checkDigests(
  bundle: Bundle,
  manifestPath: string,
  manifest: { readonly artifactDigest: string; readonly artifacts: readonly DeclaredArtifact[] },
): void {
  const { artifactDigest, ...content } = bundle.readJson(manifestPath) as Record<string, unknown>;
  if (canonicalHash(content) !== artifactDigest) throw new BundleFault(`${manifestPath}: artifactDigest differs`);
  for (const artifact of manifest.artifacts) {
    const bytes = bundle.read(artifact.path);
    if (bytes.byteLength !== artifact.byteLength) throw new BundleFault(`${artifact.path}: length differs`);
    if (sha256Label(bytes) !== artifact.sha256) throw new BundleFault(`${artifact.path}: digest differs`);
  }
}

function findRoot(folder: string, depth: number): string | undefined {
  if (existsSync(join(folder, MANIFEST_OF_PART.structural))) return folder;
  if (depth === 0 || !existsSync(folder)) return undefined;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const root = findRoot(join(folder, entry.name), depth - 1);
    if (root !== undefined) return root;
  }
  return undefined;
}
