// Who looks after the Groups: snapshots on their cadence, segments when it is worth while, and no Group in the way of another.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { SNAPSHOTS_KEPT } from '../../src/archive/snapshot/outdated.ts';
import { lookAt, type UpkeepParts } from '../../src/archive/upkeep/group.ts';
import { Upkeep, type UpkeepOptions } from '../../src/archive/upkeep/upkeep.ts';
import { slackWindow, strictWindow } from '../../src/archive/upkeep/window.ts';
import type { GroupAggregate } from '../../src/domain/aggregates.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.ts';
import { one } from '../../src/domain/reads.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { MemoryBlobs, snapshotsOf } from '../support/snapshots.ts';
import { Tenant } from '../support/tenant.ts';
import { verified, verifyEverything } from '../support/verified.ts';

const DAY = 86_400_000;

it('the slack is a quarter of each limit, and a limit that is not set stays so', () => {
  const now = Date.parse('2026-05-01T00:00:00.000Z');
  expect(strictWindow({ events: 10 }, now)).toEqual({ events: 10 });
  expect(slackWindow({ events: 10 }, now)).toEqual({ events: 13 });
  expect(strictWindow({ events: 10, days: 4, bytes: 1_000 }, now)).toEqual({
    events: 10,
    bytes: 1_000,
    since: '2026-04-27T00:00:00.000Z',
  });
  expect(slackWindow({ events: 10, days: 4, bytes: 1_000 }, now)).toEqual({
    events: 13,
    bytes: 1_250,
    since: '2026-04-26T00:00:00.000Z',
  });
});

describe.each(STORES)('looking after Groups on $name', ({ open }) => {
  let opened: OpenedStore;
  let store: AuthorityStore;
  let tenant: Tenant;
  let mission: Mission;
  let segmentBlobs: MemoryBlobs;
  let snapshotBlobs: MemoryBlobs;
  let parts: UpkeepParts;
  let clock: number;
  beforeEach(async () => {
    clock = Date.now();
    opened = await open({ clock: () => clock });
    segmentBlobs = new MemoryBlobs();
    snapshotBlobs = new MemoryBlobs();
    store = withSealedBodies(opened.store, segmentBlobs);
    tenant = await Tenant.create(store, { clock: () => clock });
    mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('ada'));
    parts = { store, segmentBlobs, snapshots: snapshotsOf(tenant, snapshotBlobs), snapshotBlobs };
  });
  afterEach(() => opened.close());

  const policy = (more: Partial<Policy>): Policy => ({ ...DEFAULT_POLICY, ...more });
  const look = (more: Partial<Policy>) => lookAt(parts, tenant.organization, mission.groupId, policy(more));
  const standing = () => store.segments.standing(tenant.organization.organizationId, mission.groupId);
  const faults = () => verifyEverything(store, tenant.organization, snapshotBlobs);
  async function work(items: number, on = mission): Promise<void> {
    for (let count = 0; count < items; count += 1) await on.authorize();
  }

  /** By the owner, who needs no lease. */
  async function say(messages: number): Promise<void> {
    const { aggregates } = await store.read(tenant.organization.organizationId, (reader) =>
      reader.load([one('group', mission.groupId)]),
    );
    const { mainConversationId } = aggregates[0]!.document as GroupAggregate;
    for (let count = 0; count < messages; count += 1)
      await mission.say(mission.owner, 'Still here?', mainConversationId);
  }

  it('MWP-MSN-009a: a quarter beyond the window the oldest Events are sealed, down to the window, under a snapshot', async () => {
    await work(10);
    const { headSequence } = (await standing())!;
    const events = headSequence - 2;
    expect(await look({ onlineWindow: { events } })).toMatchObject({ sealed: 0 });
    await work(events);
    const head = (await standing())!.headSequence;
    expect(await look({ onlineWindow: { events } })).toMatchObject({ sealed: 1, snapshotThrough: head });
    const after = (await standing())!;
    expect(after).toMatchObject({ snapshotThrough: head, sealedThrough: head - events });
    expect(await look({ onlineWindow: { events } })).toMatchObject({ sealed: 0 });
    expect(await standing()).toEqual(after);
    expect(await faults()).toEqual([]);
  });

  it('MWP-MSN-009a: Events that grew too old are sealed, however few they are', async () => {
    await work(3);
    clock += 4 * DAY;
    await say(2);
    const before = (await standing())!;
    expect(await look({ onlineWindow: { events: 1_000, days: 4 } })).toMatchObject({ sealed: 0 });
    clock += 1 * DAY + 1;
    expect(await look({ onlineWindow: { events: 1_000, days: 4 } })).toMatchObject({ sealed: 1 });
    expect(await standing()).toMatchObject({ sealedThrough: before.headSequence - 2 });
    expect(await look({ onlineWindow: { events: 1_000, days: 1_000, bytes: 1 } })).toMatchObject({ sealed: 1 });
    expect(await standing()).toMatchObject({ sealedThrough: before.headSequence });
    expect(await faults()).toEqual([]);
  });

  it('MWP-MSN-009b: snapshots come on their cadence, and the bytes of the last few are kept', async () => {
    const rows: { artifactHash: string; stateHash: string }[] = [];
    await work(2);
    for (let round = 0; round < SNAPSHOTS_KEPT + 3; round += 1) {
      expect(await look({ snapshotEvery: 3 })).toEqual(
        expect.objectContaining({ snapshotThrough: (await standing())!.headSequence }),
      );
      rows.push((await snapshots()).at(-1)!);
      await work(2);
      expect(await look({ snapshotEvery: 3 })).not.toHaveProperty('snapshotThrough');
      await work(1);
    }
    const kept = snapshotBlobs.hashes();
    expect(rows.map(({ artifactHash }) => kept.includes(artifactHash))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(rows.map(({ stateHash }) => kept.includes(stateHash))).toEqual([false, false, false, true, true, true]);
    const { faults: found, notes } = await verified(store, tenant.organization, snapshotBlobs);
    expect([found, notes]).toEqual([[], []]);
    // The last ones can still be restored whole: all that they name is there.
    const named = (await snapshots())
      .slice(-SNAPSHOTS_KEPT)
      .flatMap(({ packs }) => packs.match(/sha256:[0-9a-f]{64}/g)!);
    expect(named.filter((hash) => !kept.includes(hash))).toEqual([]);
  });

  it('the guess of when to look again is never past what is due', async () => {
    await work(6);
    const first = await look({ onlineWindow: { events: 20 }, snapshotEvery: 7 });
    expect(first.eventsToGo).toBe(7);
    await work(6);
    const { eventsToGo } = await look({ onlineWindow: { events: 20 }, snapshotEvery: 7 });
    expect(eventsToGo).toBe(1);
    await work(eventsToGo);
    expect(await look({ onlineWindow: { events: 20 }, snapshotEvery: 7 })).toHaveProperty('snapshotThrough');
  });

  describe('in rounds', () => {
    let told: string[];
    let upkeep: Upkeep;
    let watched: AuthorityStore;
    beforeEach(async () => {
      told = [];
      upkeep = new Upkeep(options());
      watched = upkeep.watching(store);
      tenant.submitThrough(tenant.anotherAuthority(watched));
      const current = await store.organizations.policy(tenant.organization.organizationId);
      const changed = { ...current, version: current.version + 1, snapshotEvery: 5, onlineWindow: { events: 4 } };
      await store.organizations.changeRegistry(tenant.organization.organizationId, { policy: changed });
    });
    afterEach(() => upkeep.stop());

    function options(more: Partial<UpkeepOptions> = {}): UpkeepOptions {
      return {
        ...parts,
        looked: (_, { groupId }) => told.push(groupId),
        failed: (error, { groupId }) => told.push(`${groupId} failed: ${(error as Error).message}`),
        ...more,
      };
    }

    it('the first round looks at every Group, later ones at those that moved far enough', async () => {
      await work(6);
      await upkeep.round();
      expect(told).toEqual([mission.groupId]);
      const other = await Mission.create(tenant, mission.owner, mission.coordinator);
      await upkeep.round();
      expect(told).toEqual([mission.groupId]);
      await work(5, other);
      await work(1);
      await upkeep.round();
      expect(told).toEqual([mission.groupId, other.groupId]);
      await upkeep.round();
      expect(told).toHaveLength(2);
      expect(await faults()).toEqual([]);
    });

    it('a Group that cannot be looked after is told, and holds up no other', async () => {
      await work(6);
      const other = await Mission.create(tenant, mission.owner, mission.coordinator);
      await work(6, other);
      const takeSnapshot: UpkeepOptions['snapshots']['takeSnapshot'] = (organization, groupId) =>
        groupId === mission.groupId
          ? Promise.reject(new Error('no space'))
          : parts.snapshots.takeSnapshot(organization, groupId);
      const hindered = new Upkeep(options({ snapshots: { takeSnapshot } }));
      await hindered.round();
      expect(told.sort()).toEqual([other.groupId, `${mission.groupId} failed: no space`].sort());
      await hindered.stop();
    });

    it('MWP-MSN-009a: several processes that look at once, while the Group goes on, lose and double nothing', async () => {
      await work(20);
      const others = [new Upkeep(options()), new Upkeep(options())];
      await Promise.all([upkeep.round(), ...others.map((other) => other.round()), work(8)]);
      for (const other of others) await other.stop();
      await upkeep.round();
      expect(told.filter((line) => line.includes('failed'))).toEqual([]);
      const rows = await store.read(tenant.organization.organizationId, (reader) =>
        reader.events(mission.groupId, 0, 100),
      );
      expect(rows.map(({ position }) => position)).toEqual(rows.map((_, place) => place + 1));
      expect((await standing())!.sealedThrough).toBeGreaterThan(10);
      expect(await faults()).toEqual([]);
    });

    it('after the stop no look begins', async () => {
      await work(6);
      await upkeep.stop();
      await upkeep.round();
      expect(told).toEqual([]);
    });
  });

  async function snapshots() {
    return store.read(tenant.organization.organizationId, (reader) => reader.snapshots(mission.groupId, 0, 100));
  }
});
