// Uploads as the store keeps them: reserved, completed, counted against a quota from the principal's own rows, and forgotten
// after a day with the bytes that nothing names.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { UPLOAD_KEPT_MILLISECONDS, UPLOADS_SWEPT_AT_ONCE, type UploadQuota } from '../../src/store/port/uploads.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { lookBehind } from './behind.ts';
import { AGENT, append, binding, hash, newGroupId, newTenant, uuid } from './samples.ts';

const OTHER: Principal = { type: 'agent', id: 'urn:agent:2' };
const AMPLE: UploadQuota = { count: 100, bytes: 1_000_000 };

describe.each(STORES)('uploads on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let millis = Date.parse('2026-05-01T00:00:00Z');
  beforeAll(async () => {
    opened = await open({ clock: () => millis });
  });
  afterAll(() => opened.close());

  /** An Organization with two Agents. */
  async function newHouse() {
    const org = await newTenant(opened.store);
    await opened.store.organizations.changeRegistry(org, {
      principals: [AGENT, OTHER].map((principal) => ({ principal, displayName: principal.id })),
      bindings: [binding(AGENT, 'urn:key:1', '1'.repeat(43))],
    });
    const upload = (content: unknown, size = 1, principal = AGENT) => ({ principal, hash: hash(content), size });
    return {
      org,
      upload,
      reserve: (content: unknown, size = 1, { principal = AGENT, quota = AMPLE } = {}) =>
        opened.store.uploads.reserve(org, upload(content, size, principal), quota),
      put: async (content: unknown, size = 1, principal = AGENT) => {
        await opened.store.uploads.reserve(org, upload(content, size, principal), AMPLE);
        return opened.store.uploads.complete(org, upload(content, size, principal));
      },
      find: (content: unknown, principal = AGENT) =>
        opened.store.read(org, (reader) => reader.upload(upload(content, 1, principal))),
      publish: (content: unknown, agentId = AGENT.id) => publish(org, hash(content), agentId),
      sweep: async () => {
        const removed: string[] = [];
        await opened.store.uploads.sweep(org, { remove: async (_, removable) => void removed.push(removable) });
        return removed.sort();
      },
    };
  }

  async function publish(org: OrganizationId, contentHash: string, agentId: string): Promise<void> {
    const document = { contentHash, producer: { agentId }, workItemId: 'urn:item:1' };
    await append(opened.store, org, newGroupId(), { aggregates: [{ kind: 'artifact', id: uuid(), document }] });
  }

  it('are reserved, then complete; the second time is told from the caller’s own row alone', async () => {
    const { put, reserve, find } = await newHouse();
    expect(await find('a')).toBeUndefined();
    expect(await reserve('a', 7)).toEqual({ reserved: true });
    expect(await find('a')).toEqual({ principal: AGENT, hash: hash('a'), size: 7, state: 'reserved' });
    expect(await put('a', 5)).toBe('first');
    expect(await find('a')).toMatchObject({ size: 5, state: 'complete' });
    expect(await put('a', 5)).toBe('again');
    expect(await find('a', OTHER)).toBeUndefined();
    expect(await put('a', 5, OTHER)).toBe('first');
  });

  it('that did not come are as if they had never been reserved; what was complete stays', async () => {
    const { org, upload, put, reserve, find } = await newHouse();
    await reserve('a');
    await opened.store.uploads.release(org, upload('a'));
    expect(await find('a')).toBeUndefined();
    await put('b');
    await reserve('b');
    await opened.store.uploads.release(org, upload('b'));
    expect(await find('b')).toMatchObject({ state: 'complete' });
  });

  it('are counted while they are under way and until they are published, by number and by bytes', async () => {
    const { put, reserve, find, publish } = await newHouse();
    const quota = { count: 2, bytes: 100 };
    await put('a', 40);
    expect(await reserve('b', 61, { quota })).toEqual({ reserved: false, limit: 'bytes' });
    expect(await find('b')).toBeUndefined();
    expect(await reserve('b', 60, { quota })).toEqual({ reserved: true });
    expect(await reserve('c', 0, { quota })).toEqual({ reserved: false, limit: 'count' });
    // What it has put or reserved already is not counted a second time.
    expect(await reserve('a', 40, { quota })).toEqual({ reserved: true });
    expect(await reserve('b', 60, { quota })).toEqual({ reserved: true });
    // Another principal's use is its own.
    expect(await reserve('c', 100, { principal: OTHER, quota })).toEqual({ reserved: true });
    await publish('a');
    expect(await reserve('c', 40, { quota })).toEqual({ reserved: true });
    expect(await find('a')).toMatchObject({ state: 'published' });
    expect(await put('a', 40)).toBe('again');
    expect(await find('a')).toMatchObject({ state: 'published' });
  });

  it('of one principal that come at once do not pass the quota together', async () => {
    const { org, upload } = await newHouse();
    const another = name === 'postgres' ? await opened.another() : opened.store;
    const asked = Array.from({ length: 8 }, (_, place) =>
      (place % 2 ? opened.store : another).uploads.reserve(org, upload(place, 10), { count: 3, bytes: 1_000 }),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter(({ reserved }) => reserved)).toHaveLength(3);
  });

  it('what others published of the same content changes nothing for their uploader', async () => {
    const { put, reserve, find, publish } = await newHouse();
    await put('a', 10);
    await publish('a', OTHER.id);
    expect(await reserve('b', 1, { quota: { count: 1, bytes: 100 } })).toEqual({ reserved: false, limit: 'count' });
    expect(await find('a')).toMatchObject({ state: 'complete' });
  });

  it('are forgotten after a day; bytes go only where neither a manifest nor another upload names them', async () => {
    const { put, reserve, find, publish, sweep } = await newHouse();
    for (const content of ['alone', 'shared', 'published', 'of others', 'lost', 'again']) await put(content);
    await reserve('never came');
    await publish('published');
    await publish('of others', OTHER.id);
    millis += UPLOAD_KEPT_MILLISECONDS - 1;
    expect(await sweep()).toEqual([]);
    expect(await reserve('x', 1, { quota: { count: 7, bytes: 100 } })).toEqual({ reserved: true });
    await put('shared', 1, OTHER);
    await put('again');
    millis += 1;
    expect(await sweep()).toEqual([hash('alone'), hash('lost'), hash('never came')].sort());
    for (const content of ['alone', 'shared', 'of others', 'lost', 'never came']) {
      expect([content, await find(content)]).toEqual([content, undefined]);
    }
    expect(await find('published')).toMatchObject({ state: 'published' });
    expect(await find('again')).toMatchObject({ state: 'complete' });
    expect(await find('shared', OTHER)).toMatchObject({ state: 'complete' });
    expect(await sweep()).toEqual([]);
  });

  it('what is over counts against no quota, swept or not, and a sweep is bounded', async () => {
    const { put, reserve, sweep, publish, find } = await newHouse();
    const count = UPLOADS_SWEPT_AT_ONCE + 3;
    await put('first of all');
    await publish('first of all');
    for (let place = 0; place < count; place += 1) await put(place);
    millis += UPLOAD_KEPT_MILLISECONDS;
    expect(await reserve('x', 1, { quota: { count: 1, bytes: 1 } })).toEqual({ reserved: true });
    const removed = [await sweep(), await sweep(), await sweep()].map(({ length }) => length);
    expect(Math.max(...removed)).toBeLessThanOrEqual(UPLOADS_SWEPT_AT_ONCE);
    expect(removed.reduce((sum, one) => sum + one, 0)).toBe(count);
    expect(await find('first of all')).toMatchObject({ state: 'published' });
  });

  it('a sweep that ends before its end is done again', async () => {
    const { org, put, find, sweep } = await newHouse();
    await put('a');
    millis += UPLOAD_KEPT_MILLISECONDS;
    const broken = opened.store.uploads.sweep(org, {
      remove: () => Promise.reject(new Error('the disk is gone')),
    });
    await expect(broken).rejects.toThrow('the disk is gone');
    expect(await find('a')).toMatchObject({ state: 'complete' });
    expect(await sweep()).toEqual([hash('a')]);
  });

  it('while bytes are removed, nobody of the Organization reserves', async () => {
    const { org, put, reserve, find } = await newHouse();
    await put('a');
    millis += UPLOAD_KEPT_MILLISECONDS;
    const order: string[] = [];
    let reserving: Promise<unknown> | undefined;
    const behind = lookBehind(opened);
    await opened.store.uploads.sweep(org, {
      remove: async () => {
        reserving = reserve('a').then(() => order.push('reserved'));
        if (name === 'postgres') await behind.untilWaiting(1);
        order.push('removed');
      },
    });
    await reserving;
    await behind.close();
    expect(order).toEqual(['removed', 'reserved']);
    expect(await find('a')).toMatchObject({ state: 'reserved' });
  });
});
