// Blobs as files of one folder. No name comes from outside: tenants and blobs are found by hashes alone.
// FOLDER/<SHA-256 of the Organization's id>/<2 digits>/<62 digits>; what is being written lies in FOLDER/incoming.
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OrganizationId } from '../../protocol/ids.ts';
import { BlobFault, INCOMING_MAXIMUM_MS, type BlobPutOptions, type BlobStore, type StoredBlob } from '../port/blobs.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const READ_BYTES = 262_144;
const HASH = /^sha256:([0-9a-f]{2})([0-9a-f]{62})$/;

/** Makes the folder if need be, and clears what ended processes left in it. Rejects with BlobFault 'unavailable'. */
export async function openBlobFiles(folder: string, now: () => number = Date.now): Promise<BlobStore> {
  const incoming = join(folder, 'incoming');
  await reaching(async () => {
    await makeFolder(incoming);
    await clearLeftovers(incoming, now() - INCOMING_MAXIMUM_MS);
  });
  return {
    put: async (organizationId, bytes, options = {}) => put(folder, organizationId, bytes, options),
    get: async (organizationId, hash) => get(pathOf(folder, organizationId, hash), hash),
    size: async (organizationId, hash) => sizeOf(pathOf(folder, organizationId, hash)),
    remove: async (organizationId, hash) => remove(pathOf(folder, organizationId, hash)),
    hashes: (organizationId) => reaching(() => hashesIn(join(folder, tenantOf(organizationId)))),
    clearIncoming: (organizationId) => reaching(() => clearOf(incoming, `${tenantOf(organizationId)}-`)),
  };
}

async function put(
  folder: string,
  organizationId: OrganizationId,
  bytes: AsyncIterable<Uint8Array>,
  options: BlobPutOptions,
): Promise<StoredBlob> {
  // Two tenants meet under no name, whatever chance does.
  const incoming = join(folder, 'incoming', `${tenantOf(organizationId)}-${randomUUID()}`);
  try {
    const stored = await receive(incoming, bytes, options);
    await reaching(() => publish(incoming, pathOf(folder, organizationId, stored.hash)));
    return stored;
  } catch (error) {
    // The first fault counts; what cannot be removed now goes with the next start.
    await rm(incoming, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Into a file of its own, on the disk when this resolves. */
async function receive(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { expectedHash, bytesMaximum }: BlobPutOptions,
): Promise<StoredBlob> {
  const file = await reaching(() => open(path, 'wx', PRIVATE_FILE));
  try {
    const digest = createHash('sha256');
    let size = 0;
    for await (const chunk of bytes) {
      size += chunk.byteLength;
      if (bytesMaximum !== undefined && size > bytesMaximum) {
        throw new BlobFault('too-large', `more than ${bytesMaximum} bytes`);
      }
      digest.update(chunk);
      await reaching(() => file.writeFile(chunk));
    }
    const hash = `sha256:${digest.digest('hex')}`;
    if (expectedHash !== undefined && hash !== expectedHash) {
      throw new BlobFault('mismatch', `the bytes are those of ${hash}`);
    }
    await reaching(() => file.sync());
    return { hash, size };
  } finally {
    await file.close();
  }
}

/** The name appears with everything behind it: first the bytes are on the disk, then the name, then the folder. */
async function publish(incoming: string, path: string): Promise<void> {
  const shelf = join(path, '..');
  await makeFolder(shelf);
  await rename(incoming, path);
  await syncFolder(shelf);
}

async function get(path: string, hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  return (await sizeOf(path)) === undefined ? undefined : checked(path, hash);
}

/** Opened by who reads, so that who does not leaves nothing open. One chunk behind: the last goes out when all is right. */
async function* checked(path: string, hash: string): AsyncGenerator<Uint8Array> {
  // A link that somebody planted is not followed.
  const file = await reaching(() => open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
  try {
    const digest = createHash('sha256');
    let held: Uint8Array | undefined;
    for (;;) {
      const { buffer, bytesRead } = await reaching(() => file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES));
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      digest.update(chunk);
      if (held) yield held;
      held = chunk;
    }
    if (`sha256:${digest.digest('hex')}` !== hash) throw new BlobFault('corrupt', `what lies at ${hash} is not that`);
    if (held) yield held;
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await reaching(() => ifThere(stat(path)));
  return found?.size;
}

async function remove(path: string): Promise<void> {
  await reaching(async () => {
    await rm(path, { force: true });
    await ifThere(syncFolder(join(path, '..')));
  });
}

async function hashesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const shelf of (await ifThere(readdir(folder))) ?? [])
    for (const name of await readdir(join(folder, shelf))) found.push(`sha256:${shelf}${name}`);
  return found.filter((hash) => HASH.test(hash));
}

async function clearOf(incoming: string, prefix: string): Promise<void> {
  for (const name of await readdir(incoming))
    if (name.startsWith(prefix)) await rm(join(incoming, name), { force: true });
  await syncFolder(incoming);
}

function pathOf(folder: string, organizationId: OrganizationId, hash: string): string {
  const [, shelf, name] = HASH.exec(hash) ?? [];
  if (shelf === undefined || name === undefined)
    throw new BlobFault('mismatch', 'an address is sha256: and 64 hex digits');
  return join(folder, tenantOf(organizationId), shelf, name);
}

function tenantOf(organizationId: OrganizationId): string {
  return createHash('sha256').update(organizationId, 'utf8').digest('hex');
}

/** Every folder on the way is on the disk under its name. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = join(at, '..')) await syncFolder(join(at, '..'));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function clearLeftovers(incoming: string, before: number): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const found = await ifThere(stat(path));
    if (found && found.mtimeMs < before) await rm(path, { force: true });
  }
}

/** Undefined where there is no such file. */
async function ifThere<Result>(found: Promise<Result>): Promise<Result | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function reaching<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobFault) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new BlobFault('unavailable', `the blobs cannot be reached: ${code}`, { cause: error });
  }
}
