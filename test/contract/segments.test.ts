// Segments as the store keeps them: a row and the bodies that it stands for change places in one transaction or not at all.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { SegmentRow } from '../../src/store/port/segments.ts';
import type { StreamHead } from '../../src/store/port.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { lookBehind, type Behind } from './behind.ts';
import { segmentSample, snapshotSample } from './portrait.ts';
import { admissionRow, hash, newGroupId, newTenant, planFor, transitionOf, uuid } from './samples.ts';

describe.each(STORES)('segments on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    behind = lookBehind(opened);
    org = await newTenant(opened.store);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  interface Filled {
    groupId: GroupId;
    commands: string[];
  }

  /** Transitions of two Events each, covered by a snapshot. */
  async function filled(transitions: number, covered = transitions * 2): Promise<Filled> {
    const groupId = newGroupId();
    const commands: string[] = [];
    let head: StreamHead | undefined;
    for (let count = 0; count < transitions; count += 1) {
      const plan = planFor([groupId]);
      const signingHash = hash(plan.receipt);
      commands.push(signingHash);
      head = await opened.store.acceptTransition(org, plan, async ({ now }) => {
        const write = transitionOf({ groupId, head, plan, now, signingHash, events: 2 });
        return { write, result: write.streams[0]?.head };
      });
    }
    const snapshotId = uuid();
    const snapshot = snapshotSample({ groupId, throughSequence: covered, snapshotId, signingHash: hash(snapshotId) });
    await opened.store.recordSnapshot(
      org,
      snapshot,
      admissionRow(snapshot.signingHash, `snapshots ${groupId}`, 1, snapshot.createdAt),
    );
    return { groupId, commands };
  }

  function segment({ groupId }: Filled, position: number, from: number, to: number, more: Partial<SegmentRow> = {}) {
    const [firstSequence, lastSequence] = [from * 2 - 1, to * 2];
    return segmentSample({
      ...{ groupId, position, firstSequence, lastSequence, firstRevision: from, lastRevision: to },
      ...more,
    });
  }

  const taken = ({ commands }: Filled, from: number, to: number) => ({
    events: (to - from + 1) * 2,
    commands: commands.slice(from - 1, to),
    documents: [],
  });
  const bodiesOf = ({ groupId, commands }: Filled) =>
    opened.store.read(org, async (reader) => ({
      events: (await reader.events(groupId, 0, 100)).filter(({ body }) => body !== '').length,
      commands: (await reader.commands(commands)).filter(({ body }) => body !== '').length,
    }));

  it('MWP-MSN-009a: rows stay whole but for the bodies, which leave when their segment is there', async () => {
    const group = await filled(5);
    const before = await opened.store.read(org, (reader) => reader.events(group.groupId, 0, 100));
    const [first, second] = [segment(group, 1, 1, 2), segment(group, 2, 3, 3)];
    expect(await opened.store.segments.seal(org, first, taken(group, 1, 2))).toBe(true);
    expect(await opened.store.segments.seal(org, second, taken(group, 3, 3))).toBe(true);
    expect(await bodiesOf(group)).toEqual({ events: 4, commands: 2 });
    await opened.store.read(org, async (reader) => {
      const after = await reader.events(group.groupId, 0, 100);
      expect(after).toEqual(before.map((row) => (row.position <= 6 ? { ...row, body: '' } : row)));
      expect(await reader.latestSegment(group.groupId)).toEqual(second);
      expect(await reader.segmentsFrom(group.groupId, 1, 10)).toEqual([first, second]);
      expect(await reader.segmentsFrom(group.groupId, 5, 10)).toEqual([second]);
      expect(await reader.segmentsFrom(group.groupId, 7, 10)).toEqual([]);
      expect(await reader.segmentOfRevision(group.groupId, 2)).toEqual(first);
      expect(await reader.segmentOfRevision(group.groupId, 3)).toEqual(second);
      expect(await reader.segmentOfRevision(group.groupId, 4)).toBeUndefined();
      expect(await reader.eventAt(group.groupId, 3)).toMatchObject({ position: 3 });
      expect(await reader.eventAt(group.groupId, 11)).toBeUndefined();
    });
    const standing = { groupId: group.groupId, headSequence: 10, sealedThrough: 6, snapshotThrough: 10 };
    expect(await opened.store.segments.standing(org, group.groupId)).toEqual(standing);
    expect(await opened.store.segments.standings(org, '', 100)).toContainEqual(standing);
    expect(await opened.store.segments.standing(org, newGroupId())).toBeUndefined();
  });

  it('MWP-MSN-009a: of many who seal the same range, in several processes, one does', async () => {
    const group = await filled(3);
    const another = name === 'postgres' ? await opened.another() : opened.store;
    const rivals = Array.from({ length: 6 }, (_, place) => segment(group, 1, 1, 2, { hash: hash(place) }));
    const outcomes = await Promise.all(
      rivals.map((row, place) => (place % 2 ? another : opened.store).segments.seal(org, row, taken(group, 1, 2))),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const stands = await opened.store.read(org, (reader) => reader.segmentsFrom(group.groupId, 1, 10));
    expect(stands).toEqual([rivals[outcomes.indexOf(true)]]);
    expect(await bodiesOf(group)).toEqual({ events: 2, commands: 1 });
  });

  it('GDE-1: a body that was taken out meanwhile keeps the segment out: it would bring the body back', async () => {
    for (const table of ['events', 'commands']) {
      const group = await filled(2);
      const where =
        table === 'events'
          ? `stream_id = '${group.groupId}' AND position = 2`
          : `signing_hash = '${group.commands[1]}'`;
      await behind.query(`UPDATE {${table}} SET body = NULL WHERE ${where}`);
      expect(await opened.store.segments.seal(org, segment(group, 1, 1, 2), taken(group, 1, 2))).toBe(false);
      const { events, commands } = await bodiesOf(group);
      expect(events + commands).toBe(5);
      expect(await opened.store.read(org, (reader) => reader.latestSegment(group.groupId))).toBeUndefined();
    }
  });

  it('GDE-1: a gap, an overlap and what no snapshot covers are refused, with nothing taken out', async () => {
    const group = await filled(4, 6);
    await opened.store.segments.seal(org, segment(group, 1, 1, 1), taken(group, 1, 1));
    for (const [row, bodies] of [
      [segment(group, 3, 2, 2), taken(group, 2, 2)],
      [segment(group, 2, 3, 3), taken(group, 3, 3)],
      [segment(group, 2, 1, 2), taken(group, 1, 2)],
      [segment(group, 2, 2, 2, { firstRevision: 3 }), taken(group, 2, 2)],
      [segment(group, 2, 2, 4), taken(group, 2, 4)],
    ] as const) {
      await expect(opened.store.segments.seal(org, row, bodies)).rejects.toMatchObject({ name: 'StoreFault' });
    }
    expect(await bodiesOf(group)).toEqual({ events: 6, commands: 3 });
    expect(await opened.store.segments.seal(org, segment(group, 2, 2, 3), taken(group, 2, 3))).toBe(true);
  });

  it('what lies outside a window is told by count, by bytes from the end and by time, whichever is most', async () => {
    const group = await filled(5);
    const outside = (window: Parameters<typeof opened.store.segments.outsideWindow>[2]) =>
      opened.store.segments.outsideWindow(org, group.groupId, window);
    const rows = await opened.store.read(org, (reader) => reader.events(group.groupId, 0, 100));
    const size = rows.slice(-3).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    expect(await outside({ events: 10 })).toBe(0);
    expect(await outside({ events: 4 })).toBe(6);
    expect(await outside({ events: 10, bytes: size })).toBe(7);
    expect(await outside({ events: 10, bytes: size - 1 })).toBe(8);
    expect(await outside({ events: 4, bytes: size })).toBe(7);
    expect(await outside({ events: 10, since: rows[4]!.occurredAt })).toBe(
      rows.findIndex(({ occurredAt }) => occurredAt >= rows[4]!.occurredAt),
    );
    expect(await outside({ events: 10, since: '2126-01-01T00:00:00.000Z' })).toBe(10);
    await opened.store.segments.seal(org, segment(group, 1, 1, 3), taken(group, 1, 3));
    expect(await outside({ events: 4 })).toBe(0);
    expect(await outside({ events: 3 })).toBe(7);
    expect(await outside({ events: 10, bytes: size })).toBe(7);
    expect(await opened.store.segments.outsideWindow(org, newGroupId(), { events: 1 })).toBe(0);
  });
});
