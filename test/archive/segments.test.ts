// Sealed Events are still the history: readers see the rows as before, verification finds the same, and catching up is told
// where the online window begins.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCommand } from '../../src/archive/recorded.ts';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { sealNext } from '../../src/archive/segments/seal.ts';
import { catchUpPage, replayPage, type ReplayPage } from '../../src/delivery/replay.ts';
import { sightOf } from '../../src/delivery/sight.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import type { SegmentRow } from '../../src/store/port/segments.ts';
import type { AuthorityStore, NamedPoint, Reader } from '../../src/store/port.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { MemoryBlobs, snapshotsOf } from '../support/snapshots.ts';
import { verifyEverything } from '../support/verified.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';
import { Vandal } from './vandal.ts';

describe.each(STORES)('sealed segments on $name', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let blobs: MemoryBlobs;
  /** As the service has it. */
  let store: AuthorityStore;
  beforeEach(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    blobs = new MemoryBlobs();
    store = withSealedBodies(opened.store, blobs);
  });
  afterEach(() => opened.close());

  const organization = () => played.tenant.organization;
  const snapshot = () =>
    snapshotsOf(played.tenant, new MemoryBlobs(), store).takeSnapshot(organization(), played.mission.groupId);
  const seal = (through: number, more: object = {}) =>
    sealNext({ store, blobs, ...more }, organization().organizationId, played.mission.groupId, through);
  const read = <Result>(work: (reader: Reader) => Promise<Result>, from = store) =>
    from.read(organization().organizationId, work);
  const faults = (from = withSealedBodies(opened.store, blobs, { again: false })) =>
    verifyEverything(from, organization());

  /** All that there is with a body. */
  async function everything(from = store) {
    return read(async (reader) => {
      const { groupId } = played.mission;
      const events = await reader.events(groupId, 0, 1_000);
      const commands = await reader.commands(events.map(({ commandHash }) => commandHash));
      const hashes = (await reader.admissions(commands.map(({ signingHash }) => signingHash))).map((row) => row.record);
      const embedded = commands.flatMap((row) => readCommand(row).embedded.map((one) => one.signingHash));
      const documents = await reader.documents([...new Set(embedded)]);
      const byHash = (a: { signingHash: string }, b: { signingHash: string }) =>
        a.signingHash < b.signingHash ? -1 : 1;
      const single = await reader.event(events[2]?.eventId ?? '');
      return {
        events,
        commands: commands.sort(byHash),
        documents: documents.sort(byHash),
        hashes: hashes.sort(),
        single,
      };
    }, from);
  }

  it('MWP-MSN-009a: what is sealed is read as it was, each Event, Command and document to the byte, and proven', async () => {
    await snapshot();
    const before = await everything();
    expect(before.documents.length).toBeGreaterThan(0);
    const head = before.events.length;
    const first = await seal(7);
    const second = await seal(head - 3);
    expect([first?.position, second?.position]).toEqual([1, 2]);
    expect(first!.lastSequence).toBeLessThanOrEqual(7);
    expect(await everything()).toEqual(before);
    expect(await faults()).toEqual([]);
    const bare = await everything(opened.store);
    expect(bare.events.filter(({ body }) => body === '')).toHaveLength(second!.lastSequence);
    const hashes = before.documents.map(({ signingHash }) => signingHash);
    const documents = await read((reader) => reader.documents(hashes), opened.store);
    expect(documents.some(({ body }) => body === '')).toBe(true);
    expect(blobs.hashes()).toEqual([first!.hash, second!.hash]);
    // Every transition is in one segment, and all that the last snapshot covers can be sealed.
    while (await seal(1_000)) continue;
    expect((await read((reader) => reader.latestSegment(played.mission.groupId)))?.lastSequence).toBe(head);
    expect(await everything()).toEqual(before);
    expect(await faults()).toEqual([]);
    await played.mission.authorize();
    expect(await seal(1_000)).toBeUndefined();
    expect(await faults()).toEqual([]);
  });

  it('GDE-1: who ends between the blob and its row leaves all as it was, and the next one finishes', async () => {
    await snapshot();
    const before = await everything(opened.store);
    const ends = () => {
      throw new Error('the process ends here');
    };
    await expect(seal(7, { pass: ends })).rejects.toThrow('ends here');
    expect(await everything(opened.store)).toEqual(before);
    const [left] = blobs.hashes();
    expect((await seal(7))?.hash).toBe(left);
    expect(blobs.hashes()).toEqual([left]);
    expect(await faults()).toEqual([]);
  });

  it('GDE-1: who ends when the row stands has sealed, and the next one goes on after it', async () => {
    await snapshot();
    const before = await everything();
    const ends = (point: NamedPoint) => {
      if (point === 'segment-sealed') throw new Error('the process ends here');
    };
    await expect(seal(7, { pass: ends })).rejects.toThrow('ends here');
    expect((await seal(1_000))?.position).toBe(2);
    expect(await everything()).toEqual(before);
    expect(await faults()).toEqual([]);
  });

  it('MWP-MSN-009a: two who seal at once lose nothing, also while the Group goes on', async () => {
    await snapshot();
    const before = await everything();
    const work = played.mission.authorize();
    const done = await Promise.all([seal(9), seal(9), seal(6)]);
    await work;
    expect(done.filter(Boolean)).toHaveLength(1);
    expect((await everything()).events.slice(0, before.events.length)).toEqual(before.events);
    expect(await faults()).toEqual([]);
  });

  it('bytes that are gone, spoilt or of another range are found, and never taken for the history', async () => {
    await snapshot();
    const [first, second] = [(await seal(7))!, (await seal(12))!];
    const key = ({ hash }: SegmentRow) => `${organization().organizationId} ${hash}`;
    const bytes = blobs.kept.get(key(first))!;
    for (const spoilt of [
      undefined,
      Buffer.from(bytes.map((byte, place) => (place === 40 ? byte ^ 1 : byte))),
      blobs.kept.get(key(second)),
    ]) {
      if (spoilt) blobs.kept.set(key(first), spoilt);
      else blobs.kept.delete(key(first));
      expect(await faults()).toContainEqual(expect.stringMatching(/cannot be read to its end: segments: /));
      const fresh = withSealedBodies(opened.store, blobs);
      await expect(read((reader) => reader.events(played.mission.groupId, 0, 3), fresh)).rejects.toMatchObject({
        kind: 'corrupt',
      });
    }
    blobs.kept.set(key(first), bytes);
    expect(await faults()).toEqual([]);
  });

  it('however many segments a reader opens, few are held in memory, and those for a minute', async () => {
    await snapshot();
    const head = (await everything()).events.length;
    for (let through = 2; through < head; through += 2) await seal(through);
    const waiting = new Set<unknown>();
    const set = globalThis.setTimeout;
    const clear = globalThis.clearTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((work: () => void, delay?: number) => {
      const timer = set(work, delay);
      if (delay === 60_000) waiting.add(timer);
      return timer;
    });
    vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
      waiting.delete(timer);
      clear(timer);
    });
    try {
      await everything();
      expect(blobs.hashes().length).toBeGreaterThan(4);
      expect(waiting.size).toBe(4);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('a segment that was sealed anew under a reader is read on newer rows', async () => {
    await snapshot();
    const segment = (await seal(7))!;
    const vandal = await Vandal.over(opened);
    const [row] = await vandal.rows('segments');
    const key = `${organization().organizationId} ${segment.hash}`;
    const bytes = blobs.kept.get(key)!;
    // The row points to where nothing is until the second reading.
    const undo = await vandal.set('segments', row!, { hash: `sha256:${'0'.repeat(64)}` });
    let readings = 0;
    const rows = await read(async (reader) => {
      readings += 1;
      if (readings === 2) {
        await undo?.();
        return [];
      }
      return reader.events(played.mission.groupId, 0, 3);
    });
    expect([rows, readings]).toEqual([[], 2]);
    expect(bytes.length).toBe(segment.size);
    await vandal.close();
  });

  describe('catching up', () => {
    let owner: ActorKey;
    let late: ActorKey;
    let lateFrom: number;
    beforeEach(async () => {
      const { tenant, mission } = played;
      owner = mission.owner;
      late = await tenant.agent('late');
      await mission.join(late);
      lateFrom = (await read((reader) => reader.stream(mission.groupId)))!.position;
      await mission.active(late);
      await mission.active(late);
    });

    const catchUp = (actor: ActorKey, after: number, from = store) =>
      read(async (reader) => {
        const { groupId } = played.mission;
        const sight = await sightOf(reader, groupId, actor.principal);
        if (isRefusal(sight)) throw new Error(sight.message);
        const addressOf = ({ snapshotId }: { snapshotId: string }) => `/there/${snapshotId}`;
        const reading = { organization: organization(), sight, addressOf };
        return catchUpPage(reader, groupId, reading, { after, limit: 200 });
      }, from);
    const bodies = async (actor: ActorKey, after: number) => ((await catchUp(actor, after)) as ReplayPage).bodies;

    it('MWP-WRK-030c, MWP-MSN-009: below the window a full member is told of the snapshot, and from it on none is missing', async () => {
      const all = await bodies(owner, 0);
      const taken = (await snapshot())!.row;
      await played.mission.authorize();
      const { lastSequence } = (await seal(taken.throughSequence - 2))!;
      for (const after of [0, 1, lastSequence - 1]) {
        expect(await catchUp(owner, after)).toEqual({
          refused: true,
          code: 'CURSOR_TOO_OLD',
          message: expect.any(String) as string,
          snapshotArtifactHash: taken.artifactHash,
          details: {
            snapshotId: taken.snapshotId,
            throughSequence: taken.throughSequence,
            stateHash: taken.stateHash,
            uri: `/there/${taken.snapshotId}`,
          },
        });
      }
      expect((await bodies(owner, lastSequence)).slice(0, 2)).toEqual(all.slice(lastSequence, lastSequence + 2));
      expect(await bodies(owner, taken.throughSequence)).toHaveLength(1);
    });

    it('MWP-MSN-012: a limited member is served from the segments and never sent to a snapshot', async () => {
      const before = await bodies(late, 0);
      expect(before.length).toBeGreaterThan(6);
      const taken = (await snapshot())!.row;
      const { lastSequence } = (await seal(taken.throughSequence))!;
      expect(lastSequence).toBeGreaterThan(lateFrom);
      expect(await bodies(late, 0)).toEqual(before);
      expect(await bodies(late, lastSequence - 2)).toEqual(before.slice(-2));
    });

    it('MWP-MSN-009a: a range of the history is whole, below the window and across it', async () => {
      const all = await bodies(owner, 0);
      await snapshot();
      const { lastSequence } = (await seal(all.length - 4))!;
      const range = (from: number, to: number, limit = 200) =>
        read(async (reader) => {
          const sight = await sightOf(reader, played.mission.groupId, owner.principal);
          if (isRefusal(sight)) throw new Error(sight.message);
          const reading = { organization: organization(), sight };
          return replayPage(reader, played.mission.groupId, reading, { after: from - 1, through: to, limit });
        });
      expect((await range(1, 3)).bodies).toEqual(all.slice(0, 3));
      expect((await range(lastSequence - 1, lastSequence + 2)).bodies).toEqual(
        all.slice(lastSequence - 2, lastSequence + 2),
      );
      expect((await range(1, 1_000)).bodies).toEqual(all);
      expect(await range(1, 1_000, 5)).toMatchObject({ throughSequence: 5, bodies: all.slice(0, 5) });
      expect((await range(all.length + 5, all.length + 9)).bodies).toEqual([]);
    });
  });
});
