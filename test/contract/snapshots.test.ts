// Snapshots as the store keeps them: written once with their admission record, in order, and by one of those who race.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore, SnapshotRow } from '../../src/store/port.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { admissionRow, hash, newGroupId, newTenant, planFor, transitionOf, uuid } from './samples.ts';
import { snapshotSample } from './portrait.ts';

describe.each(STORES)('snapshots on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    org = await newTenant(opened.store);
  });
  afterAll(() => opened.close());

  async function newGroup(): Promise<string> {
    const groupId = newGroupId();
    const plan = planFor([groupId]);
    await opened.store.acceptTransition(org, plan, async ({ now }) => ({
      write: transitionOf({ groupId, plan, now }),
      result: undefined,
    }));
    return groupId;
  }

  function sample(groupId: string, position: number, more: Partial<SnapshotRow> = {}): SnapshotRow {
    const snapshotId = uuid();
    const signingHash = hash(snapshotId);
    return snapshotSample({ groupId, position, throughSequence: position, snapshotId, signingHash, ...more });
  }

  function record(row: SnapshotRow, store: AuthorityStore = opened.store) {
    const admission = admissionRow(row.signingHash, `snapshots ${row.groupId}`, row.position, row.createdAt);
    return store.recordSnapshot(org, row, admission);
  }

  const read = (groupId: string) =>
    opened.store.read(org, async (reader) => ({
      latest: await reader.latestSnapshot(groupId),
      all: await reader.snapshots(groupId, 0, 10),
    }));

  it('are answered as they were written, the latest by itself and each by its id in its Group alone', async () => {
    const [groupId, other] = [await newGroup(), await newGroup()];
    const [first, second] = [sample(groupId, 1), sample(groupId, 2, { throughSequence: 7 })];
    expect(await record(first)).toEqual(first);
    expect(await record(second)).toEqual(second);
    expect(await read(groupId)).toEqual({ latest: second, all: [first, second] });
    expect(await read(other)).toEqual({ latest: undefined, all: [] });
    await opened.store.read(org, async (reader) => {
      expect(await reader.snapshot(groupId, first.snapshotId)).toEqual(first);
      expect(await reader.snapshot(other, first.snapshotId)).toBeUndefined();
      expect(await reader.snapshots(groupId, 1, 10)).toEqual([second]);
      expect(await reader.admission(first.signingHash)).toMatchObject({
        streamId: `snapshots ${groupId}`,
        revision: 1,
      });
    });
  });

  it('MWP-MSN-009: who comes second is answered the first one, and nothing of its own is written', async () => {
    const groupId = await newGroup();
    const another = name === 'postgres' ? await opened.another() : opened.store;
    const rivals = Array.from({ length: 6 }, () => sample(groupId, 1));
    const answers = await Promise.all(rivals.map((row, place) => record(row, place % 2 ? another : opened.store)));
    const [winner] = answers;
    expect(rivals).toContainEqual(winner);
    expect(answers).toEqual(rivals.map(() => winner));
    await opened.store.read(org, async (reader) => {
      const admitted = await reader.admissions(rivals.map(({ signingHash }) => signingHash));
      expect(admitted.map(({ signingHash }) => signingHash)).toEqual([winner?.signingHash]);
    });
  });

  it('a gap, a sequence that does not rise and a Group that is not there are refused, with nothing written', async () => {
    const groupId = await newGroup();
    await record(sample(groupId, 1, { throughSequence: 5 }));
    for (const wrong of [
      sample(groupId, 3, { throughSequence: 9 }),
      sample(groupId, 2, { throughSequence: 5 }),
      sample('urn:test:group:none', 1),
    ]) {
      await expect(record(wrong)).rejects.toMatchObject({ name: 'StoreFault' });
      await opened.store.read(org, async (reader) => {
        expect(await reader.admission(wrong.signingHash)).toBeUndefined();
      });
    }
    expect((await read(groupId)).all).toHaveLength(1);
  });

  it('MWP-ADM-004a: an admission record that cannot be written keeps its snapshot out', async () => {
    const groupId = await newGroup();
    const [first, second] = [sample(groupId, 1), sample(groupId, 2)];
    await record(first);
    await expect(record({ ...second, signingHash: first.signingHash })).rejects.toMatchObject({ kind: 'conflict' });
    expect((await read(groupId)).all).toEqual([first]);
  });
});
