// A bundle's folder on disk. Whoever made it is not trusted: no path leads out of it, no link is followed below it, and
// the size of a file and the number of files are bounded. No network.

import { accessSync, constants, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_JSON_BYTES } from '../../wire/strict-json.ts';
import { CommandFault } from '../command-line.ts';

export const PARTS = ['structural', 'cryptography', 'admission'] as const;
export type Part = (typeof PARTS)[number];

export const MANIFEST_OF_PART: Readonly<Record<Part, string>> = {
  structural: 'conformance/manifest.json',
  cryptography: 'cryptography/manifest.json',
  admission: 'admission/manifest.json',
};

/** A bundle that cannot be evaluated: a file missing, a digest that differs, a manifest of another shape. */
export class BundleFault extends CommandFault {}

export interface BundleFolder {
  has(path: string): boolean;
  /** Bytes of a regular file below the folder. */
  read(path: string): Uint8Array;
  /** Every file at or below `under`, sorted; hidden ones left out, for a desktop leaves its own. */
  list(under: string): string[];
}

/** No file of a bundle is longer: each is a document of the wire or a manifest. */
export const MAX_FILE_BYTES = MAX_JSON_BYTES;
/** Twenty times what is published. */
export const MAX_FILES = 5_000;
/** How far below the given folder the bundle may lie; enough for a checkout that keeps it in a subfolder. */
const SEARCH_DEPTH = 3;
/** So that a search from the root of a disk ends. */
const MAX_FOLDERS_SEARCHED = 2_000;

const REPOSITORY_PATH = /^(?:[a-z0-9][a-z0-9._-]{0,99}\/){0,9}[a-z0-9][a-z0-9._-]{0,99}$/;

export function openFolder(folder: string): BundleFolder {
  const root = findRoot(folder);
  return {
    has: (path) => isThere(join(root, path)),
    read: (path) => read(root, path),
    list: (under) => list(root, under),
  };
}

function read(root: string, path: string): Uint8Array {
  if (!REPOSITORY_PATH.test(path)) throw new BundleFault(`${quoted(path)} is not a path inside the bundle`);
  const file = join(root, path);
  return orFault(path, () => {
    if (realpathSync(file) !== file) throw new BundleFault(`${path} is or lies behind a symbolic link`);
    const about = lstatSync(file);
    if (!about.isFile()) throw new BundleFault(`${path} is not a regular file`);
    if (about.size > MAX_FILE_BYTES) throw new BundleFault(`${path} has more than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(file);
  });
}

function isThere(file: string): boolean {
  return orFault(file, () => lstatSync(file, { throwIfNoEntry: false })) !== undefined;
}

function list(root: string, under: string): string[] {
  const files: string[] = [];
  const folders = [under];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of orFault(folder, () => readdirSync(join(root, folder), { withFileTypes: true }))) {
      if (entry.name.startsWith('.')) continue;
      const path = `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) throw new BundleFault(`${path} is or lies behind a symbolic link`);
      (entry.isDirectory() ? folders : files).push(path);
      if (files.length + folders.length > MAX_FILES)
        throw new BundleFault(`${under}/ has more than ${MAX_FILES} files`);
    }
  }
  return files.sort();
}

/** Breadth first and sorted, so that the nearest bundle is taken, everywhere the same one. Links are not followed. */
function findRoot(folder: string): string {
  if (!orFault(folder, () => statSync(folder)).isDirectory()) throw new BundleFault(`${folder} is not a folder`);
  const start = orFault(folder, () => realpathSync(folder));
  const queue = [{ path: start, depth: 0 }];
  for (const { path, depth } of queue) {
    if (queue.length > MAX_FOLDERS_SEARCHED) break;
    const isHere = Object.values(MANIFEST_OF_PART).some((manifest) => isThere(join(path, manifest)));
    if (isHere) return path;
    if (depth < SEARCH_DEPTH)
      queue.push(...subfolders(path).map((name) => ({ path: join(path, name), depth: depth + 1 })));
  }
  throw new BundleFault(`no ${MANIFEST_OF_PART.structural} in or below ${folder}`);
}

/** None of what may not be looked into; the bundle that is meant lies elsewhere. */
function subfolders(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map(({ name }) => name)
      .filter((name) => canEnter(join(path, name)))
      .sort();
  } catch {
    return [];
  }
}

function canEnter(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function orFault<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof BundleFault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new BundleFault(
      code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read (${code ?? 'unknown'})`,
    );
  }
}

/** A hostile text in a sentence: short, and without anything that moves a terminal's cursor. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
