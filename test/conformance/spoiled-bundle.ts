// Copies of the published bundles to spoil, the digests of a spoiled one made right again where a test wants that, and the
// command run on them as the executable would.

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'vitest';
import { canonicalText } from '../../src/wire/canonical.ts';
import { runMwp } from '../support/command-line.ts';

export const BUNDLE = process.env['MWP_BUNDLE'] ?? resolve(import.meta.dirname, '../../../shared/mwp');
export const hasBundle = existsSync(join(BUNDLE, 'conformance/manifest.json'));
export const ALL_PASSED = 'structural 58/58\ncryptography 62/62\nadmission 30/30\n';

const folders: string[] = [];
/** After all tests of a file. */
export function removeCopies(): void {
  workingCopy = undefined;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mwp-bundle-')));
  folders.push(folder);
  return folder;
}

const FILES = hasBundle ? filesBelow(BUNDLE).filter((path) => path.includes('/')) : [];
let workingCopy: string | undefined;

/** A copy to spoil. One serves all tests of a file, made whole again here: two hundred new files a test take too long. */
export function copyOfBundle(): string {
  workingCopy ??= temporaryFolder();
  const kept = new Set(FILES);
  for (const path of filesBelow(workingCopy)) {
    if (!kept.has(path) || !isAsPublished(workingCopy, path)) rmSync(join(workingCopy, path), { recursive: true });
  }
  for (const path of FILES) {
    if (existsSync(join(workingCopy, path))) continue;
    mkdirSync(join(workingCopy, dirname(path)), { recursive: true });
    copyFileSync(join(BUNDLE, path), join(workingCopy, path));
  }
  return workingCopy;
}

function isAsPublished(folder: string, path: string): boolean {
  const published = readFileSync(join(BUNDLE, path));
  const about = lstatSync(join(folder, path));
  return about.isFile() && about.size === published.length && readFileSync(join(folder, path)).equals(published);
}

/** Whatever is no folder, links and pipes among them; an empty folder counts as a file of its own. */
function filesBelow(folder: string, below = ''): string[] {
  const entries = readdirSync(join(folder, below), { withFileTypes: true });
  if (entries.length === 0 && below !== '') return [below];
  return entries.flatMap((entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

/** Replaces in a file what must be there to be replaced. */
export function replace(folder: string, path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(folder, path), 'utf8');
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${path} has no ${String(from)}`);
  writeFileSync(join(folder, path), changed);
}

export const sha256 = (bytes: Uint8Array | string) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

interface Manifest {
  artifactDigest: string;
  artifacts: { path: string; byteLength: number; sha256: string }[];
  cryptography?: { artifactDigest: string };
  cases: { id: string; evaluations: Record<string, unknown>[] }[];
}

/** Changes a manifest and makes every digest in it right for what lies there, as another revision would have it. */
export function republish(
  folder: string,
  part: 'cryptography' | 'admission',
  change: (manifest: Manifest) => void = () => undefined,
): void {
  const path = join(folder, part, 'manifest.json');
  const { artifactDigest: _digest, ...manifest } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  for (const artifact of manifest.artifacts) {
    const bytes = readFileSync(join(folder, artifact.path));
    Object.assign(artifact, { byteLength: bytes.byteLength, sha256: sha256(bytes) });
  }
  if (part === 'admission') {
    const cryptography = JSON.parse(readFileSync(join(folder, 'cryptography/manifest.json'), 'utf8')) as Manifest;
    Object.assign(manifest.cryptography ?? {}, { artifactDigest: cryptography.artifactDigest });
  }
  const republished = manifest as Manifest;
  change(republished);
  republished.artifactDigest = sha256(canonicalText(republished));
  writeFileSync(path, JSON.stringify(republished));
}

export const conformance = (...args: string[]) => runMwp(['conformance', ...args]);

/** One sentence on standard error, and no line of any part: no case ran. */
export async function expectRefused(folder: string, sentence: string | RegExp) {
  const { code, stdout, stderr } = await conformance('--bundle', folder);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^mwp: [^\n]{1,600}\n$/);
  expect(stderr).toMatch(sentence);
}
