// Snapshots: what they say follows from the Group, each is small beside the state, and a fold from one goes on as a fold from
// the first Event does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SnapshotsBusy } from '../../src/archive/snapshot/ports.ts';
import type { GroupSnapshot } from '../../src/protocol/documents/group-snapshot.ts';
import type { SnapshotRow } from '../../src/store/port.ts';
import { linkOf, type StatePack } from '../../src/trust/snapshot-link.ts';
import { sha256Label } from '../../src/wire/canonical.ts';
import { stateDocument, stateHash } from '../../src/wire/state-document.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import { restoreGroup } from '../../src/worker/restore.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { eventsAfter, expectedBy, MemoryBlobs, offered, snapshotsOf } from '../support/snapshots.ts';
import { Tenant } from '../support/tenant.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';

describe.each(STORES)('a snapshot on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let blobs: MemoryBlobs;
  beforeEach(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    blobs = new MemoryBlobs();
  });
  afterEach(() => opened.close());

  async function take(groupId = played.mission.groupId): Promise<SnapshotRow> {
    const taken = await snapshotsOf(played.tenant, blobs).takeSnapshot(played.tenant.organization, groupId);
    if (!taken) throw new Error('no such Group');
    return taken.row;
  }

  const documentOf = ({ body }: SnapshotRow) => JSON.parse(body) as GroupSnapshot;
  const packsOf = ({ packs }: SnapshotRow) => JSON.parse(packs) as StatePack[];
  const read = <Result>(work: Parameters<typeof opened.store.read<Result>>[1]) =>
    opened.store.read(played.tenant.organization.organizationId, work);

  async function restored(row: SnapshotRow) {
    const { tenant } = played;
    const outcome = await restoreGroup(await offered(tenant, row, blobs), expectedBy(tenant, row.groupId));
    if (!outcome.ok) throw new Error(outcome.fault);
    return outcome.fold;
  }

  it('MWP-MSN-009: is signed by the authority, admitted, and says what the Group says', async () => {
    const { tenant, mission } = played;
    const row = await take();
    const { organizationId, authority } = tenant.organization;
    const document = documentOf(row);
    const events = await eventsAfter(tenant, mission.groupId, 0);
    const { head, state, log, admission } = await read(async (reader) => ({
      head: await reader.stream(mission.groupId),
      state: stateHash(stateDocument(organizationId, mission.groupId, await reader.aggregateHashes(mission.groupId))),
      log: await reader.policyLog(mission.groupId, 0, 100),
      admission: await reader.admission(row.signingHash),
    }));
    expect(document).toMatchObject({
      groupId: mission.groupId,
      throughSequence: head?.position,
      eventIds: [events[0]?.eventId, events.at(-1)?.eventId],
      stateHash: state,
      createdBy: authority,
    });
    expect(document.policyLog.slice(1).map(({ entryId }) => entryId)).toEqual(log.map(({ entryId }) => entryId));
    expect(log.length).toBeGreaterThan(0);
    const { chainHash, logHash, revision } = head!;
    expect(linkOf(document)).toMatchObject({
      organizationId,
      position: 1,
      previous: null,
      head: { chainHash, logHash, revision },
      policyLog: { after: 0, through: log.length },
      statePacks: packsOf(row),
    });
    expect(document.policyLog[0]?.decision).toBe('this is the first snapshot of its Group');
    expect(admission).toMatchObject({ documentKind: 'group-snapshot', acceptedBy: authority, principal: authority });
    expect(row.artifactHash).toBe(sha256Label(row.body));
    // Each is there under its own address: the signed bytes, the state document, the packs.
    for (const hash of [row.artifactHash, row.stateHash, ...packsOf(row).map((pack) => pack.hash)]) {
      expect(blobs.hashes()).toContain(hash);
    }
  });

  it('is the one that stands, while nothing was accepted since, and of no Group is none', async () => {
    const snapshots = snapshotsOf(played.tenant, blobs);
    const { organization } = played.tenant;
    const first = await snapshots.takeSnapshot(organization, played.mission.groupId);
    expect(first?.isNew).toBe(true);
    expect(await snapshots.takeSnapshot(organization, played.mission.groupId)).toEqual({
      row: first?.row,
      isNew: false,
    });
    expect(await snapshots.takeSnapshot(organization, 'urn:test:group:none')).toBeUndefined();
    await played.mission.authorize();
    const second = await snapshots.takeSnapshot(organization, played.mission.groupId);
    expect([second?.isNew, second?.row.position]).toEqual([true, 2]);
  });

  it('brings along what changed since the one before, links to it by hash, and begins anew when that outgrew it', async () => {
    const { mission, tenant } = played;
    const first = await take();
    await mission.authorize();
    const second = await take();
    const [base, later] = packsOf(second);
    expect(base).toEqual(packsOf(first)[0]);
    expect(later?.documents).toBeLessThan((base?.documents ?? 0) / 2);
    const link = linkOf(documentOf(second));
    expect(link?.previous).toEqual({
      snapshotId: first.snapshotId,
      snapshotArtifactHash: sha256Label(first.body),
      throughSequence: first.throughSequence,
    });
    expect(documentOf(second).policyLog[0]?.decision).toBe('this snapshot follows the one that is named here');
    let begunAnew = 0;
    for (let round = 0; round < 20 && begunAnew === 0; round += 1) {
      for (let more = 0; more < 3; more += 1) await mission.authorize();
      const next = await take();
      if (packsOf(next).length === 1) begunAnew = next.position;
      expect((await restored(next)).stateHash()).toBe(next.stateHash);
    }
    expect(begunAnew).toBeGreaterThan(2);
    expect(await tenant.expectReplayEquivalence()).toBeGreaterThan(0);
  });

  it('begins anew where the state document or a pack that it would go on from is gone', async () => {
    const { organizationId } = played.tenant.organization;
    let last = await take();
    for (const lost of [(row: SnapshotRow) => row.stateHash, (row: SnapshotRow) => packsOf(row)[0]!.hash]) {
      blobs.kept.delete(`${organizationId} ${lost(last)}`);
      await played.mission.authorize();
      last = await take();
      expect(packsOf(last)).toHaveLength(1);
      expect((await restored(last)).stateHash()).toBe(last.stateHash);
    }
  });

  it('MWP-MSN-009d: with the Events after it, gives the state that all Events give, whatever was played', async () => {
    const { tenant, mission, other } = played;
    const kinds = new Set<string>();
    for (const groupId of [mission.groupId, other.groupId]) {
      const row = await take(groupId);
      const fold = await restored(row);
      expect(fold.throughSequence).toBe(row.throughSequence);
      expect(fold.stateHash()).toBe(row.stateHash);
      for (const { kind } of fold.view.all()) kinds.add(kind);
    }
    expect(kinds.size).toBeGreaterThan(8);
    const row = await take();
    const fold = await restored(row);
    await mission.authorize();
    await mission.accept(mission.owner, 'mission.cancel', { reason: 'enough' });
    const all = await eventsAfter(tenant, mission.groupId, 0);
    const tail = all.slice(row.throughSequence);
    expect(tail.length).toBeGreaterThan(1);
    // What lies before is known, and what is not next changes nothing.
    expect(fold.add(all[row.throughSequence - 1]!)).toBe('known');
    expect(fold.add(tail[1]!)).toBe('gap');
    expect(fold.stateHash()).toBe(row.stateHash);
    for (const event of tail) expect(fold.add(event)).toBe('folded');
    expect(fold.stateHash()).toBe(foldedStateHash(tenant.organization.organizationId, mission.groupId, all));
  });

  it('MWP-MSN-009d: taken while the Group goes on, each is of one moment', { timeout: 30_000 }, async () => {
    const { tenant, mission } = played;
    const snapshots = snapshotsOf(tenant, blobs);
    let isGoing = true;
    const working = (async () => {
      while (isGoing) await mission.authorize();
    })();
    const rows = new Map<number, SnapshotRow>();
    for (let round = 0; round < 500 && rows.size < 4; round += 1) {
      const taken = await snapshots.takeSnapshot(tenant.organization, mission.groupId);
      rows.set(taken!.row.throughSequence, taken!.row);
    }
    isGoing = false;
    await working;
    const { organizationId } = tenant.organization;
    const all = await eventsAfter(tenant, mission.groupId, 0);
    expect(rows.size).toBe(4);
    for (const row of rows.values()) {
      const upTo = all.slice(0, row.throughSequence);
      expect(row.stateHash).toBe(foldedStateHash(organizationId, mission.groupId, upTo));
      expect((await restored(row)).stateHash()).toBe(row.stateHash);
    }
  });

  it('of two processes that take one at once, one wins and both answer it', async () => {
    const { tenant, mission } = played;
    const another = name === 'postgres' ? await opened.another() : opened.store;
    const processes = [snapshotsOf(tenant, blobs), snapshotsOf(tenant, blobs, another), snapshotsOf(tenant, blobs)];
    const taken = await Promise.all(
      processes.map((snapshots) => snapshots.takeSnapshot(tenant.organization, mission.groupId)),
    );
    expect(new Set(taken.map((one) => one?.row.snapshotId)).size).toBe(1);
    expect(taken.filter((one) => one?.isNew)).toHaveLength(1);
  });

  it('is not made of a row that was changed behind the back', async () => {
    const row = await read(async (reader) => (await reader.aggregateHashes(played.mission.groupId))[0]!);
    const { store } = opened;
    const lying: typeof store = {
      ...store,
      read: (organizationId, work) =>
        store.read(organizationId, (reader) =>
          work({
            ...reader,
            aggregateRows: async (keys) =>
              (await reader.aggregateRows(keys)).map((found) =>
                found.id === row.id ? { ...found, document: found.document.replace('{', '{"more":1,') } : found,
              ),
          }),
        ),
    };
    const snapshots = snapshotsOf(played.tenant, blobs, lying);
    await expect(snapshots.takeSnapshot(played.tenant.organization, played.mission.groupId)).rejects.toThrow(
      /is not what its hash says/,
    );
    expect(await read((reader) => reader.latestSnapshot(played.mission.groupId))).toBeUndefined();
  });

  it('holds no free text: of what members said, neither the packs nor the signed document', async () => {
    const { mission } = played;
    await take();
    const everything = (await Promise.all([...blobs.kept].map(([, bytes]) => unpacked(bytes)))).join('\n');
    expect(everything).toContain('work_item');
    const texts = await read(async (reader) => {
      const rows = await reader.page({ kind: 'work_item', groupId: mission.groupId, limit: 1 });
      return JSON.stringify(rows);
    });
    expect(texts).toContain('commitment');
    for (const said of ['Ship the release', 'It is shipped', 'A release']) expect(everything).not.toContain(said);
  });
});

describe('taking snapshots', () => {
  it('one Organization waits for eight at most, one process takes one at a time, and a stop lets that one end', async () => {
    const [sqlite] = STORES;
    const opened = await sqlite!.open();
    const tenant = await Tenant.create(opened.store);
    const mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
    const snapshots = snapshotsOf(tenant, new MemoryBlobs());
    const asked = Array.from({ length: 9 }, () => snapshots.takeSnapshot(tenant.organization, mission.groupId));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual([...Array<string>(8).fill('fulfilled'), 'rejected']);
    await mission.authorize();
    const last = snapshots.takeSnapshot(tenant.organization, mission.groupId);
    const waiting = snapshots.takeSnapshot(tenant.organization, mission.groupId);
    const refused = expect(waiting).rejects.toBeInstanceOf(SnapshotsBusy);
    await Promise.resolve();
    await snapshots.stop();
    await snapshots.stop();
    expect((await last)?.row.position).toBe(2);
    await refused;
    await expect(snapshots.takeSnapshot(tenant.organization, mission.groupId)).rejects.toBeInstanceOf(SnapshotsBusy);
    await opened.close();
  });
});

async function unpacked(bytes: Buffer): Promise<string> {
  const { gunzipSync } = await import('node:zlib');
  return (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8');
}
