// The blob store's contract, run whole against every adapter.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { openBlobFiles } from '../../src/store/files/blobs.ts';
import { INCOMING_MAXIMUM_MS, type BlobStore } from '../../src/store/port/blobs.ts';
import { ADAPTERS, filesIn, type Shelf } from './blob-shelves.ts';
import { CHUNK, hashOf, pieces, upToTheFault, whole } from './blob-streams.ts';

describe.each(ADAPTERS)('blobs as $name', ({ open }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let shelf: Shelf;
  let blobs: BlobStore;
  let org: OrganizationId;
  let other: OrganizationId;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    shelf = await opened.shelf();
    ({ blobs, org, other } = shelf);
  });

  it.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])('gives back %i bytes as they came', async (length) => {
    const bytes = randomBytes(length);
    const hash = hashOf(bytes);
    expect(await blobs.put(org, pieces(bytes))).toEqual({ hash, size: length });
    expect(await blobs.size(org, hash)).toBe(length);
    expect((await whole(await blobs.get(org, hash))).equals(bytes)).toBe(true);
    expect(await (await shelf.again()).size(org, hash)).toBe(length);
  });

  it('knows nothing of what another Organization stored', async () => {
    const bytes = randomBytes(100);
    const { hash } = await blobs.put(org, pieces(bytes));
    expect(await blobs.get(other, hash)).toBeUndefined();
    expect(await blobs.size(other, hash)).toBeUndefined();
    await blobs.remove(other, hash);
    await blobs.put(other, pieces(bytes));
    await blobs.remove(other, hash);
    expect((await whole(await blobs.get(org, hash))).equals(bytes)).toBe(true);
  });

  it('refuses other bytes than those of the expected hash, and stores none of them', async () => {
    const bytes = randomBytes(1_000);
    const expectedHash = hashOf(randomBytes(8));
    await expect(blobs.put(org, pieces(bytes), { expectedHash })).rejects.toMatchObject({ kind: 'mismatch' });
    expect(await blobs.size(org, expectedHash)).toBeUndefined();
    expect(await blobs.size(org, hashOf(bytes))).toBeUndefined();
    await blobs.put(org, pieces(bytes), { expectedHash: hashOf(bytes) });
  });

  it('takes the bytes that are allowed, and asks for no more once there is one too many', async () => {
    const bytes = randomBytes(1_000);
    await blobs.put(org, pieces(bytes, 100), { bytesMaximum: 1_000 });
    let asked = 0;
    let wasEnded = false;
    const endless = {
      async *[Symbol.asyncIterator]() {
        try {
          for (;;) {
            asked += 1;
            yield await Promise.resolve(bytes.subarray(0, 100));
          }
        } finally {
          wasEnded = true;
        }
      },
    };
    await expect(blobs.put(org, endless, { bytesMaximum: 999 })).rejects.toMatchObject({ kind: 'too-large' });
    expect([asked, wasEnded]).toEqual([10, true]);
  });

  it('passes on what goes wrong with the source, and stores nothing of it', async () => {
    const broken = async function* () {
      yield await Promise.resolve(randomBytes(100));
      throw new Error('the client went away');
    };
    await expect(blobs.put(org, broken())).rejects.toThrow('the client went away');
    expect(await shelf.stored()).toBe(0);
  });

  it('the same bytes twenty times at once are one blob', async () => {
    const bytes = randomBytes(2 * CHUNK);
    const stored = await Promise.all(Array.from({ length: 20 }, () => blobs.put(org, pieces(bytes))));
    expect(new Set(stored.map(({ hash }) => hash))).toEqual(new Set([hashOf(bytes)]));
    expect((await whole(await blobs.get(org, hashOf(bytes)))).equals(bytes)).toBe(true);
    expect(await shelf.stored()).toBe(1);
  });

  it('removes for good, and again', async () => {
    const { hash } = await blobs.put(org, pieces(randomBytes(100)));
    await blobs.remove(org, hash);
    await blobs.remove(org, hash);
    expect(await blobs.get(org, hash)).toBeUndefined();
    expect(await shelf.stored()).toBe(0);
  });

  it.each(['', 'sha256:', '../../etc/passwd', `sha256:${'A'.repeat(64)}`, `sha256:${'a'.repeat(63)}/`, 'a'.repeat(64)])(
    'takes no address but sha256: and 64 lower-case digits: %j',
    async (hash) => {
      for (const asked of [blobs.get(org, hash), blobs.size(org, hash), blobs.remove(org, hash)]) {
        await expect(asked).rejects.toMatchObject({ kind: 'mismatch' });
      }
    },
  );

  it('MWP-WRK-024b: a reader of damaged bytes is told before it has all of them, and the same bytes mend it', async () => {
    const bytes = randomBytes(2 * CHUNK + 10);
    const { hash } = await blobs.put(org, pieces(bytes));
    const flipped = Buffer.from(bytes);
    flipped[5] = (flipped[5] ?? 0) ^ 1;
    for (const damaged of [
      flipped,
      bytes.subarray(0, CHUNK),
      Buffer.concat([bytes, Buffer.from('x')]),
      Buffer.alloc(0),
    ]) {
      await shelf.damage(damaged);
      const { bytes: came, fault } = await upToTheFault(await blobs.get(org, hash));
      expect(fault).toMatchObject({ kind: 'corrupt' });
      expect(came).toBeLessThan(Math.max(damaged.length, 1));
    }
    await blobs.put(org, pieces(bytes));
    expect((await whole(await blobs.get(org, hash))).equals(bytes)).toBe(true);
  });
});

describe('blobs as files', () => {
  const ORG = 'urn:test:organization' as OrganizationId;
  let folder: string;
  const files = () => filesIn(folder);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-blobs-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are for their owner alone, under names that come from nobody', async () => {
    const blobs = await openBlobFiles(join(folder, 'new/below'));
    await blobs.put('../../../escape' as OrganizationId, pieces(randomBytes(10)));
    const [path] = files() as [string];
    expect(path).toMatch(/\/new\/below\/[0-9a-f]{64}\/[0-9a-f]{2}\/[0-9a-f]{62}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
  });

  it('are read through no link', async () => {
    const blobs = await openBlobFiles(folder);
    const bytes = Buffer.from('somebody else’s');
    const { hash } = await blobs.put(ORG, pieces(bytes));
    const [path] = files() as [string];
    rmSync(path);
    writeFileSync(join(folder, 'elsewhere'), bytes);
    symlinkSync(join(folder, 'elsewhere'), path);
    expect((await upToTheFault(await blobs.get(ORG, hash))).fault).toMatchObject({ kind: 'unavailable' });
  });

  it('a process killed while it writes leaves no blob, and what it left goes once no source can still be writing it', async () => {
    const bytes = Buffer.alloc(3_000_000, 'x');
    const module = join(import.meta.dirname, '../../src/store/files/blobs.ts');
    const script = `
      import { openBlobFiles } from ${JSON.stringify(module)};
      const blobs = await openBlobFiles(${JSON.stringify(folder)});
      await blobs.put(${JSON.stringify(ORG)}, (async function* () {
        yield Buffer.alloc(1_500_000, 'x');
        console.log('half');
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      })());`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const [left, ...others] = files();
    expect(others).toEqual([]);
    expect(readFileSync(left ?? '')).toHaveLength(1_500_000);
    const blobs = await openBlobFiles(folder);
    expect(await blobs.size(ORG, hashOf(bytes))).toBeUndefined();
    expect(files()).toEqual([left]);
    const longAgo = new Date(Date.now() - INCOMING_MAXIMUM_MS - 1_000);
    utimesSync(left ?? '', longAgo, longAgo);
    await openBlobFiles(folder);
    expect(files()).toEqual([]);
  });

  it('say that they cannot be reached where the folder is none', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(openBlobFiles(join(folder, 'file'))).rejects.toMatchObject({ kind: 'unavailable' });
    const blobs = await openBlobFiles(folder);
    rmSync(folder, { recursive: true });
    await expect(blobs.put(ORG, pieces(randomBytes(10)))).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
