// A store of contents in a folder that is made with the first of them and is gone with the process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBlobFiles } from '../../src/store/files/blobs.ts';
import type { BlobStore } from '../../src/store/port/blobs.ts';

export function temporaryBlobs(): BlobStore {
  let opened: Promise<BlobStore> | undefined;
  const blobs = () => (opened ??= openBlobFiles(newFolder()));
  return {
    put: async (...given) => (await blobs()).put(...given),
    get: async (...given) => (await blobs()).get(...given),
    size: async (...given) => (await blobs()).size(...given),
    remove: async (...given) => (await blobs()).remove(...given),
    hashes: async (...given) => (await blobs()).hashes(...given),
    clearIncoming: async (...given) => (await blobs()).clearIncoming(...given),
  };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-blobs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
