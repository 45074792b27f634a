// Is the bundle what its own manifests say? Answered for all parts before one case runs; the cases then read the very
// bytes that were checked, never the disk again.

import type { z } from 'zod';
import { canonicalHash, sha256Label } from '../../wire/canonical.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import { BundleFault, MANIFEST_OF_PART, quoted, type BundleFolder, type Part } from './folder.ts';
import {
  admissionShape,
  cryptographyShape,
  filesOfAdmission,
  filesOfCryptography,
  structuralShape,
} from './manifests.ts';
import type { AdmissionManifest, CryptographyManifest, StructuralManifest } from './manifests.ts';

export interface CheckedFiles {
  read(path: string): Uint8Array;
  /** The file as strict JSON within the data model. */
  readJson(path: string): unknown;
}

/** A part is undefined where its manifest is missing: a revision of the protocol from before it. */
export interface CheckedBundle extends CheckedFiles {
  readonly structural: StructuralManifest | undefined;
  readonly cryptography: CryptographyManifest | undefined;
  readonly admission: AdmissionManifest | undefined;
  readonly digests: Readonly<Partial<Record<Part, string>>>;
}

/** Throws BundleFault at the first thing that does not fit. */
export function checkBundle(folder: BundleFolder): CheckedBundle {
  const bytes = new Map<string, Uint8Array>();
  const files = filesIn(bytes);
  const isThere = (part: Part) => folder.has(MANIFEST_OF_PART[part]);
  /** Reads the manifest and, where it is of the given shape, answers it. */
  const manifestOf = <Shape extends z.ZodType>(part: Part, shape: Shape): z.output<Shape> => {
    const path = MANIFEST_OF_PART[part];
    bytes.set(path, folder.read(path));
    const manifest = shape.safeParse(files.readJson(path));
    if (!manifest.success) throw new BundleFault(`${path} has another shape ${whereIn(manifest.error)}`);
    return manifest.data;
  };
  const structural = isThere('structural') ? manifestOf('structural', structuralShape) : undefined;
  const cryptography = isThere('cryptography') ? manifestOf('cryptography', cryptographyShape) : undefined;
  const admission = isThere('admission') ? manifestOf('admission', admissionShape) : undefined;
  const digests: Partial<Record<Part, string>> = {};

  if (structural !== undefined) {
    digests.structural = checkStructural(folder, bytes, structural);
  }
  if (cryptography !== undefined) {
    digests.cryptography = checkDeclared(folder, bytes, 'cryptography', cryptography);
    checkCases('cryptography', cryptography.cases, filesOfCryptography(cryptography), bytes);
  }
  if (admission !== undefined) {
    if (admission.cryptography.artifactDigest !== cryptography?.artifactDigest) {
      throw new BundleFault(`${MANIFEST_OF_PART.admission} belongs to another cryptography bundle`);
    }
    digests.admission = checkDeclared(folder, bytes, 'admission', admission);
    checkCases('admission', admission.cases, filesOfAdmission(admission), bytes);
  }
  return { structural, cryptography, admission, digests, ...files };
}

function filesIn(bytes: ReadonlyMap<string, Uint8Array>): CheckedFiles {
  const read = (path: string): Uint8Array => {
    const found = bytes.get(path);
    if (found === undefined) throw new BundleFault(`${quoted(path)} is not a checked file of the bundle`);
    return found;
  };
  const readJson = (path: string): unknown => {
    const json = parseStrictJson(read(path));
    if (!json.ok) throw new BundleFault(`${path} is not strict JSON: ${json.fault}`);
    if (json.dataModelFault !== undefined) throw new BundleFault(`${path} is not I-JSON: ${json.dataModelFault}`);
    return json.value;
  };
  return { read, readJson };
}

interface Declaring {
  readonly artifactDigest: string;
  readonly artifacts: readonly { readonly path: string; readonly byteLength: number; readonly sha256: string }[];
}

/** The manifest's own digest, then every file that it declares, then that no file is there that it does not declare. */
function checkDeclared(folder: BundleFolder, bytes: Map<string, Uint8Array>, part: Part, manifest: Declaring): string {
  const path = MANIFEST_OF_PART[part];
  const { artifactDigest: _digest, ...content } = filesIn(bytes).readJson(path) as Record<string, unknown>;
  expectDigest(path, `its artifactDigest`, manifest.artifactDigest, canonicalHash(content));
  for (const artifact of manifest.artifacts) {
    if (artifact.path === path) throw new BundleFault(`${path} declares itself`);
    const found = folder.read(artifact.path);
    if (found.byteLength !== artifact.byteLength) {
      throw new BundleFault(`${artifact.path} has ${found.byteLength} bytes, and ${path} says ${artifact.byteLength}`);
    }
    expectDigest(artifact.path, path, artifact.sha256, sha256Label(found));
    bytes.set(artifact.path, found);
  }
  expectUnique(
    path,
    'the file',
    manifest.artifacts.map((artifact) => artifact.path),
  );
  const declared = new Set([path, `${part}/README.md`, ...manifest.artifacts.map((artifact) => artifact.path)]);
  const stray = folder.list(part).find((file) => !declared.has(file));
  if (stray !== undefined) throw new BundleFault(`${quoted(stray)} is not declared by ${path}`);
  return manifest.artifactDigest;
}

/**
 * The structural manifest states no digests, so there is nothing to compare with here but the files themselves. Its digest
 * is made as the other manifests spell theirs: the hash of the canonical list of path, byteLength and sha256, sorted by
 * path, of the manifest, of every document that it names and of every schema.
 */
function checkStructural(folder: BundleFolder, bytes: Map<string, Uint8Array>, manifest: StructuralManifest): string {
  const path = MANIFEST_OF_PART.structural;
  expectUnique(
    path,
    'the case',
    manifest.map(({ name }) => name),
  );
  expectUnique(
    path,
    'the document',
    manifest.map(({ instance }) => instance),
  );
  const schemas = folder.list('schemas').filter((file) => file.endsWith('.schema.json'));
  const instances = new Set(manifest.map(({ instance }) => instance));
  for (const { name, schema } of manifest) {
    if (!schemas.includes(schema)) throw new BundleFault(`${path}: no schema ${quoted(schema)} for ${quoted(name)}`);
  }
  for (const file of [...schemas, ...instances]) bytes.set(file, folder.read(file));
  const stray = folder
    .list('conformance')
    .find((file) => file.endsWith('.json') && file !== path && !instances.has(file));
  if (stray !== undefined) throw new BundleFault(`${quoted(stray)} is not named by ${path}`);
  const entries = [path, ...schemas, ...instances].sort().map((file) => {
    const found = filesIn(bytes).read(file);
    return { path: file, byteLength: found.byteLength, sha256: sha256Label(found) };
  });
  return canonicalHash(entries);
}

/** No case may read what no digest covers, and each is named once. */
function checkCases(
  part: Part,
  cases: readonly { readonly id: string }[],
  named: readonly string[],
  checked: ReadonlyMap<string, Uint8Array>,
): void {
  const path = MANIFEST_OF_PART[part];
  expectUnique(
    path,
    'the case',
    cases.map(({ id }) => id),
  );
  const undeclared = named.find((file) => !checked.has(file));
  if (undeclared !== undefined)
    throw new BundleFault(`${path}: a case reads ${quoted(undeclared)}, which it does not declare`);
}

function expectUnique(path: string, what: string, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new BundleFault(`${path} names ${what} ${quoted(name)} twice`);
    seen.add(name);
  }
}

function expectDigest(path: string, by: string, expected: string, found: string): void {
  if (expected !== found)
    throw new BundleFault(`the digest of ${path} is ${found}, and ${by} says ${quoted(expected)}`);
}

/** The first place that does not fit, as a path of members. */
function whereIn(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined || issue.path.length === 0
    ? 'throughout'
    : `at ${quoted(issue.path.map(String).join('/'))}`;
}
