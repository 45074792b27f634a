// What blobs in a database promise beyond the contract of all blob stores: nothing that is slow holds the database, and what
// was left behind goes.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { PIECES_CLEARED_AT_ONCE } from '../../src/store/database-blobs.ts';
import { INCOMING_MAXIMUM_MS, type BlobStore } from '../../src/store/port/blobs.ts';
import { UPLOAD_KEPT_MILLISECONDS } from '../../src/store/port/uploads.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { lookBehind, type Behind } from './behind.ts';
import { storedIn } from './blob-shelves.ts';
import { CHUNK, hashOf, pieces, upToTheFault, whole } from './blob-streams.ts';
import { AGENT, append, binding, newGroupId, newTenant } from './samples.ts';

/** More than a small pool has connections, and more than SQLite has readers. */
const MANY = 8;

describe.each(STORES)('blobs in the database of $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let millis = Date.now();
  let contents: BlobStore;
  beforeAll(async () => {
    opened = await open({ clock: () => millis, maxConnections: 2 });
    behind = lookBehind(opened);
    contents = opened.store.blobs('contents');
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  const house = () => newTenant(opened.store);
  const stored = (org: OrganizationId) => storedIn(behind, org);

  /** A source that stops after one piece and goes on when it is told to. */
  function held(bytes: Uint8Array) {
    const signal = () => {
      let fire = (): void => undefined;
      const fired = new Promise<void>((resolve) => (fire = resolve));
      return { fired, fire };
    };
    const [stop, go] = [signal(), signal()];
    const source = async function* () {
      yield bytes.subarray(0, CHUNK);
      stop.fire();
      await go.fired;
      yield bytes.subarray(CHUNK);
    };
    return { source: source(), stopped: stop.fired, goOn: go.fire };
  }

  /** What everybody else does meanwhile. */
  const work = async (org: OrganizationId) => {
    await append(opened.store, org, newGroupId());
    return opened.store.read(org, (reader) => reader.streamIds());
  };

  it('two spaces never meet, whatever their bytes', async () => {
    const org = await house();
    const snapshots = opened.store.blobs('snapshots');
    const bytes = randomBytes(10);
    const { hash } = await contents.put(org, pieces(bytes));
    expect([await snapshots.get(org, hash), await snapshots.size(org, hash)]).toEqual([undefined, undefined]);
    await snapshots.remove(org, hash);
    await snapshots.put(org, pieces(bytes));
    await contents.remove(org, hash);
    expect((await whole(await snapshots.get(org, hash))).equals(bytes)).toBe(true);
    expect(await stored(org)).toBe(1);
  });

  it.each([10, CHUNK, 5 * CHUNK])(
    'a row holds a chunk at most, in whatever portions of %i bytes it came',
    async (by) => {
      const org = await house();
      await contents.put(org, pieces(randomBytes(4 * CHUNK + by), by === 10 ? 1_000 : by));
      const rows = await behind.query(`SELECT byte_offset, length(bytes) AS bytes FROM {blob_pieces}
      WHERE organization_id = '${org}' ORDER BY 1`);
      const sizes = rows.map((row) => Number(row['bytes']));
      expect(rows.map((row) => Number(row['byte_offset']))).toEqual(sizes.map((_, at) => at * CHUNK));
      expect(new Set(sizes.slice(0, -1))).toEqual(new Set([CHUNK]));
    },
  );

  it('sources and readers that do not go on hold neither a connection nor the write lock', async () => {
    const org = await house();
    const bytes = randomBytes(2 * CHUNK);
    const { hash } = await contents.put(org, pieces(bytes));
    const readers = await Promise.all(
      Array.from({ length: MANY }, async () => {
        const reader = (await contents.get(org, hash))![Symbol.asyncIterator]();
        return { reader, first: (await reader.next()).value as Uint8Array };
      }),
    );
    const others = Array.from({ length: MANY }, () => randomBytes(CHUNK + 1));
    const sources = others.map((other) => held(other));
    const puts = sources.map(({ source }) => contents.put(org, source));
    await Promise.all(sources.map(({ stopped }) => stopped));
    expect(await work(org)).toHaveLength(1);
    for (const { goOn } of sources) goOn();
    expect((await Promise.all(puts)).map(({ hash: of }) => of)).toEqual(others.map(hashOf));
    for (const { reader, first } of readers) {
      const rest = await whole({ [Symbol.asyncIterator]: () => reader });
      expect(Buffer.concat([first, rest]).equals(bytes)).toBe(true);
    }
    expect(await stored(org)).toBe(1 + MANY);
  });

  it('who reads goes on when the same bytes are put meanwhile, and is told when they are removed', async () => {
    const org = await house();
    const bytes = randomBytes(3 * CHUNK);
    const { hash } = await contents.put(org, pieces(bytes));
    const begun = async () => {
      const reader = (await contents.get(org, hash))![Symbol.asyncIterator]();
      return { first: (await reader.next()).value as Uint8Array, rest: { [Symbol.asyncIterator]: () => reader } };
    };
    const before = await begun();
    await contents.put(org, pieces(bytes));
    expect(await stored(org)).toBe(1);
    expect(Buffer.concat([before.first, await whole(before.rest)]).equals(bytes)).toBe(true);
    const { rest } = await begun();
    await contents.remove(org, hash);
    const { bytes: came, fault } = await upToTheFault(rest);
    expect(fault).toMatchObject({ kind: 'unavailable' });
    expect(came).toBeLessThan(2 * CHUNK);
  });

  it.each([0, CHUNK + 1, 4 * CHUNK])(
    'a reader gets no more than the size it was told, where that is damaged to %i',
    async (size) => {
      const org = await house();
      const { hash } = await contents.put(org, pieces(randomBytes(3 * CHUNK)));
      await behind.query(`UPDATE {blobs} SET size = ${size} WHERE organization_id = '${org}'`);
      expect(await contents.size(org, hash)).toBe(size);
      const { bytes: came, fault } = await upToTheFault(await contents.get(org, hash));
      expect(fault).toMatchObject({ kind: 'corrupt' });
      expect(came).toBeLessThanOrEqual(size);
    },
  );

  it('what lost a piece before its name, as a crash of the server may take what nobody waited for, gets none', async () => {
    const org = await house();
    const bytes = randomBytes(2 * CHUNK);
    const { source, stopped, goOn } = held(bytes);
    const put = contents.put(org, source);
    await stopped;
    await behind.query(`DELETE FROM {blob_pieces} WHERE organization_id = '${org}'`);
    goOn();
    await expect(put).rejects.toMatchObject({ kind: 'unavailable' });
    expect([await contents.size(org, hashOf(bytes)), await stored(org)]).toEqual([undefined, 0]);
  });

  it('a process killed while it puts leaves no blob, and what it left goes once no source can still be writing it', async () => {
    const org = await house();
    const bytes = Buffer.alloc(2 * CHUNK, 'x');
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join(import.meta.dirname, 'blob-child.ts'), name, opened.address, org, String(millis)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect([await contents.size(org, hashOf(bytes)), await stored(org)]).toEqual([undefined, 1]);
    const small = await contents.put(org, pieces(randomBytes(1)));
    expect(await stored(org)).toBe(2);
    millis += INCOMING_MAXIMUM_MS;
    await opened.store.blobs('snapshots').put(org, pieces(randomBytes(1)));
    expect(await stored(org)).toBe(3);
    await contents.put(org, pieces(randomBytes(1)));
    expect(await stored(org)).toBe(3);
    expect(await contents.size(org, small.hash)).toBe(1);
  });

  it('what is left of a large blob is cleared in several transactions, and those of other Organizations stay', async () => {
    const [org, other] = [await house(), await house()];
    for (const tenant of [org, other]) {
      await behind.query(`INSERT INTO {blobs} (organization_id, blob_id, space, size, kept_until_millis)
        VALUES ('${tenant}', 'left', 'contents', 0, 0)`);
      const values = Array.from({ length: 2 * PIECES_CLEARED_AT_ONCE }, (_, at) => `('${tenant}', 'left', ${at}, '1')`);
      await behind.query(`INSERT INTO {blob_pieces} (organization_id, blob_id, byte_offset, bytes)
        VALUES ${values.join(', ')}`);
    }
    await contents.remove(org, hashOf(randomBytes(1)));
    expect([await stored(org), await stored(other)]).toEqual([0, 1]);
  });

  it('a sweep takes forgotten contents away in its own transaction, however many sweep at the same time', async () => {
    const org = await house();
    await opened.store.organizations.changeRegistry(org, {
      principals: [{ principal: AGENT, displayName: 'agent' }],
      bindings: [binding(AGENT, 'urn:key:1', '1'.repeat(43))],
    });
    const put = async (bytes: Uint8Array) => {
      const { hash, size } = await contents.put(org, pieces(bytes));
      await opened.store.uploads.complete(org, { principal: AGENT, hash, size });
      return hash;
    };
    const over = [await put(randomBytes(2 * CHUNK)), await put(randomBytes(1))];
    millis += UPLOAD_KEPT_MILLISECONDS;
    const fresh = await put(randomBytes(1));
    await Promise.all(Array.from({ length: MANY }, () => opened.store.uploads.sweep(org, contents)));
    for (const hash of over) expect(await contents.size(org, hash)).toBeUndefined();
    expect([await contents.size(org, fresh), await stored(org)]).toEqual([1, 1]);
  });

  it('an Organization that is not there has no blobs', async () => {
    const nobody = 'urn:test:nobody' as OrganizationId;
    await expect(contents.put(nobody, pieces(randomBytes(1)))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await contents.size(nobody, hashOf(randomBytes(1)))).toBeUndefined();
  });

  it('say that they cannot be reached where the database is gone', async () => {
    const gone = await open();
    const org = await newTenant(gone.store);
    const blobs = gone.store.blobs('contents');
    const bytes = randomBytes(2 * CHUNK);
    const { hash } = await blobs.put(org, pieces(bytes));
    const reading = await blobs.get(org, hash);
    const { source, stopped, goOn } = held(bytes);
    const put = blobs.put(org, source);
    await stopped;
    await gone.store.close();
    goOn();
    await expect(put).rejects.toMatchObject({ name: 'BlobFault', kind: 'unavailable' });
    expect(await upToTheFault(reading)).toMatchObject({ bytes: 0, fault: { kind: 'unavailable' } });
    for (const asked of [blobs.get(org, hash), blobs.size(org, hash), blobs.remove(org, hash)]) {
      await expect(asked).rejects.toMatchObject({ name: 'BlobFault', kind: 'unavailable' });
    }
    await gone.close();
  });
});

describe.each(STORES.filter(({ name }) => name === 'postgres'))('blobs and the pool of $name', ({ open }) => {
  it('pieces take a quarter of the connections at most, so a rush of contents leaves room for all else', async () => {
    const opened = await open({ maxConnections: 4 });
    const behind = lookBehind(opened);
    const org = await newTenant(opened.store);
    const blobs = opened.store.blobs('contents');
    const { hash } = await blobs.put(org, pieces(randomBytes(1)));
    await behind.query('BEGIN; LOCK TABLE {blob_pieces} IN ACCESS EXCLUSIVE MODE');
    const puts = Array.from({ length: MANY }, () => blobs.put(org, pieces(randomBytes(1))));
    const gets = Array.from({ length: MANY }, async () => whole(await blobs.get(org, hash)));
    const waiting = lookBehind(opened);
    await waiting.untilWaiting(1);
    await append(opened.store, org, newGroupId());
    expect(await opened.store.read(org, (reader) => reader.streamIds())).toHaveLength(1);
    await behind.query('ROLLBACK');
    await Promise.all([...puts, ...gets]);
    await waiting.close();
    await behind.close();
    await opened.close();
  });
});
