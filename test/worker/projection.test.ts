// What a member keeps of a Group on its disk: its Cursor never passes a gap, and all of it may be lost.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Event } from '../../src/protocol/documents/event.ts';
import { done } from '../../src/worker/outcome.ts';
import { GroupFollower, type Followed, type Follows } from '../../src/worker/follower.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import { projectionFile } from '../../src/worker/projection-file.ts';
import { playOrganization } from '../archive/played-organization.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { eventsAfter, expectedBy } from '../support/snapshots.ts';

describe('a kept projection of a Group', () => {
  let opened: OpenedStore;
  let folder: string;
  let path: string;
  let events: Event[];
  let expected: Follows;
  let reader: Followed;
  let reported: () => Promise<string>;

  beforeAll(async () => {
    opened = await STORES[0]!.open();
    const { tenant, mission } = await playOrganization(opened.store);
    const { groupId } = mission;
    const { organizationId } = tenant.organization;
    events = await eventsAfter(tenant, groupId, 0);
    const { groupId: _, ...follows } = expectedBy(tenant, groupId);
    expected = follows;
    // Pages of five, from the store as it is.
    reader = {
      groupId,
      eventPage: async (after) => {
        const tail = await eventsAfter(tenant, groupId, after);
        const items = tail.slice(0, 5);
        const throughSequence = items.at(-1)?.sequence ?? after;
        const page = { items, throughSequence, headSequence: events.length };
        return done(tail.length > 5 ? { ...page, next: String(throughSequence) } : page);
      },
      restore: () => Promise.reject(new Error('nothing is sealed here')),
    };
    reported = async () => foldedStateHash(organizationId, groupId, await eventsAfter(tenant, groupId, 0));
  });
  afterAll(() => opened.close());

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mwp-projection-'));
    path = join(folder, 'group');
    return () => rmSync(folder, { recursive: true, force: true });
  });

  const store = (at = path) => projectionFile(at, { ...expected, groupId: reader.groupId });
  const resume = (at = path) => GroupFollower.resume(reader, expected, store(at));
  const event = (sequence: number) => events[sequence - 1] as Event;
  /** What another process finds there. */
  const keptCursor = async () => (await resume()).cursor;

  it('MWP-WRK-029b: 1, 2 and 4 leave the Cursor at 2, after a restart too, and 3 brings it to 4', async () => {
    const member = await resume();
    await member.deliver(event(1), event(2), event(4));
    expect([member.cursor, await keptCursor()]).toEqual([2, 2]);
    const restarted = await resume();
    await member.deliver(event(3));
    expect([member.cursor, await keptCursor()]).toEqual([4, 4]);
    // Who ended in between is sent again what it had not acknowledged.
    expect(restarted.cursor).toBe(2);
    await restarted.deliver(event(4), event(3));
    expect([restarted.cursor, restarted.fold.stateHash()]).toEqual([4, member.fold.stateHash()]);
  });

  it('MWP-WRK-029a: Events that come shuffled and more than once give what ordered ones give', async () => {
    const shuffled = [...events, ...events].map((one, place) => ({ one, at: (place * 7919) % 101 }));
    const member = await resume();
    for (const { one } of shuffled.sort((a, b) => a.at - b.at)) await member.deliver(one);
    expect(member.cursor).toBe(events.length);
    expect(member.fold.stateHash()).toBe(await reported());
  });

  it('MWP-WRK-029b: more early Events than are held cost a replay, and none of them', async () => {
    const member = await resume();
    const early = Array.from({ length: 300 }, (_, place) => ({ ...event(2), sequence: 1_000 + place }));
    await member.deliver(...early, event(3), event(2));
    expect(member.cursor).toBe(0);
    await member.deliver(event(1));
    expect(member.cursor).toBe(1);
    expect(await member.catchUp()).toMatchObject({ ok: true });
    expect([member.cursor, member.fold.stateHash()]).toEqual([events.length, await reported()]);
  });

  it('MWP-WRK-030a: the Cursor moves once the state is kept, and what is acknowledged can be had again', async () => {
    const away = join(folder, 'away');
    const member = await resume(join(away, 'group'));
    await expect(member.deliver(event(1), event(2))).rejects.toThrow('ENOENT');
    expect([member.cursor, member.fold.throughSequence]).toEqual([0, 2]);
    await expect(member.catchUp()).rejects.toThrow('ENOENT');
    expect(member.cursor).toBe(0);
    const whole = await resume();
    await whole.catchUp();
    expect(whole.cursor).toBe(events.length);
    const again = await reader.eventPage(0);
    expect(again.ok && again.value.items[0]).toEqual(event(1));
  });

  it('MWP-WRK-030a: who is ended while it writes finds what it had kept before', async () => {
    const member = await resume();
    await member.deliver(event(1), event(2));
    writeFileSync(`${path}.incoming`, readFileSync(path).subarray(0, 100));
    const restarted = await resume();
    expect([restarted.cursor, restarted.fold.stateHash()]).toEqual([2, member.fold.stateHash()]);
    await restarted.catchUp();
    expect(await keptCursor()).toBe(events.length);
  });

  it('MWP-WRK-030a: what is kept at once in both ways ends with the latest', async () => {
    const member = await resume();
    await Promise.all([member.catchUp(), ...events.map((one) => member.deliver(one)), member.catchUp()]);
    expect([member.cursor, await keptCursor()]).toEqual([events.length, events.length]);
  });

  it('MWP-FND-023b: a projection that is lost, spoilt or of another Group is replayed, and the authority knows nothing of it', async () => {
    const before = await reported();
    const member = await resume();
    await member.catchUp();
    const kept = readFileSync(path);
    const all = JSON.stringify(member.fold.view.all());
    const changed = Buffer.from(kept.toString().replace(`"throughSequence":${events.length}`, '"throughSequence":2'));
    expect(changed).not.toEqual(kept);
    for (const spoilt of [
      undefined,
      '',
      'x',
      kept.subarray(0, -1),
      kept.subarray(0, 80),
      changed,
      `\n${kept.toString()}`,
    ]) {
      if (spoilt === undefined) rmSync(path);
      else writeFileSync(path, spoilt);
      const replayed = await resume();
      expect(replayed.cursor).toBe(0);
      await replayed.catchUp();
      expect(JSON.stringify(replayed.fold.view.all())).toBe(all);
      expect(readFileSync(path)).toEqual(kept);
    }
    const elsewhere = projectionFile(path, { ...expected, groupId: 'urn:test:group:other' });
    expect(await elsewhere.load()).toBeUndefined();
    expect([member.fold.stateHash(), await reported()]).toEqual([before, before]);
  });
});
