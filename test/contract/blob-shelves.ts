// The adapters of the blob store as the contract suite sees them: two Organizations on each, and a hand that reaches behind
// what is stored.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { openBlobFiles } from '../../src/store/files/blobs.ts';
import type { BlobStore } from '../../src/store/port/blobs.ts';
import { STORES, type StoreUnderTest } from '../support/databases.ts';
import { lookBehind, type Behind } from './behind.ts';
import { CHUNK } from './blob-streams.ts';
import { newTenant } from './samples.ts';

export interface Shelf {
  blobs: BlobStore;
  org: OrganizationId;
  other: OrganizationId;
  /** As the next process would open it. */
  again: () => Promise<BlobStore>;
  /** Of `org`, whole or in part, found or not. */
  stored: () => Promise<number>;
  /** Of the one blob of `org`. */
  damage: (bytes: Uint8Array) => Promise<void>;
}

export interface Adapter {
  name: string;
  open: () => Promise<{ shelf: () => Promise<Shelf>; close: () => Promise<void> }>;
}

export const ADAPTERS: Adapter[] = [{ name: 'files', open: openFiles }, ...STORES.map(inDatabase)];

async function openFiles(): ReturnType<Adapter['open']> {
  const folders: string[] = [];
  const shelf = async (): Promise<Shelf> => {
    const folder = mkdtempSync(join(tmpdir(), 'mwp-blobs-'));
    folders.push(folder);
    const files = () => filesIn(folder);
    return {
      blobs: await openBlobFiles(folder),
      org: 'urn:test:organization' as OrganizationId,
      other: 'urn:test:organization:2' as OrganizationId,
      again: () => openBlobFiles(folder),
      stored: async () => files().length,
      damage: async (bytes) => writeFileSync(files()[0] ?? '', bytes),
    };
  };
  const close = async () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  return { shelf, close };
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function inDatabase({ name, open }: StoreUnderTest): Adapter {
  return {
    name: `rows of ${name}`,
    open: async () => {
      const opened = await open();
      const behind = lookBehind(opened);
      const again = name === 'postgres' ? () => opened.another() : async () => opened.store;
      const shelf = async (): Promise<Shelf> => {
        const org = await newTenant(opened.store);
        return {
          blobs: opened.store.blobs('contents'),
          org,
          other: await newTenant(opened.store),
          again: async () => (await again()).blobs('contents'),
          stored: () => storedIn(behind, org),
          damage: (bytes) => damage(behind, org, bytes, name),
        };
      };
      const close = async () => {
        await behind.close();
        await opened.close();
      };
      return { shelf, close };
    },
  };
}

/** A piece without its blob would count as one. */
export async function storedIn(behind: Behind, org: OrganizationId): Promise<number> {
  const rows = await behind.query(`SELECT blob_id FROM {blobs} WHERE organization_id = '${org}'
    UNION SELECT blob_id FROM {blob_pieces} WHERE organization_id = '${org}'`);
  return rows.length;
}

async function damage(behind: Behind, org: OrganizationId, bytes: Uint8Array, engine: string): Promise<void> {
  const [row] = await behind.query(`SELECT blob_id FROM {blobs} WHERE organization_id = '${org}'`);
  const blobId = String(row?.['blob_id']);
  await behind.query(`DELETE FROM {blob_pieces} WHERE organization_id = '${org}'`);
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const hex = Buffer.from(bytes.subarray(at, at + CHUNK)).toString('hex');
    const literal = engine === 'postgres' ? `'\\x${hex}'::bytea` : `X'${hex}'`;
    await behind.query(`INSERT INTO {blob_pieces} (organization_id, blob_id, byte_offset, bytes)
      VALUES ('${org}', '${blobId}', ${at}, ${literal})`);
  }
}
