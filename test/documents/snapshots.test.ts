// Snapshots of ours by the published schema, and in a time that a client can spare: of Groups as they are played, and of one
// that is as large as a snapshot gets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gather, POLICY_ENTRIES_MAXIMUM, type Gathered } from '../../src/archive/snapshot/gather.ts';
import { signSnapshot } from '../../src/archive/snapshot/sign.ts';
import type { SnapshotRow } from '../../src/store/port.ts';
import { archiveGroup, archivistOf, snapshotFor } from '../support/archived-groups.ts';
import { playOrganization, type PlayedOrganization } from '../archive/played-organization.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { MemoryBlobs } from '../support/snapshots.ts';
import { id } from '../support/mission.ts';
import { hasBundle, OFFICIAL_SCHEMAS, validatorOf } from './official-schemas.ts';

const SECOND = 1_000;
/**
 * Each has the ids of its first Event and its last in the snapshot: a million Events. The published schema wants the ids to
 * differ, and what a validator does for that grows with the square of their number.
 */
const SEGMENTS = 1_000;

describe.runIf(hasBundle).each(STORES)('snapshots of $name by the published schema', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  const blobs = new MemoryBlobs();
  // As a stranger has it: every format asserting, nothing of ours in it.
  const uri = OFFICIAL_SCHEMAS.get('group-snapshot')?.$id ?? '';
  let isOfficial: (value: unknown) => boolean | undefined;
  beforeAll(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    isOfficial = validatorOf({ formats: 'generic', strictNumbers: true })(uri);
    isOfficial({});
  });
  afterAll(() => opened.close());

  function judged({ body }: Pick<SnapshotRow, 'body'>): { isOfficial: boolean | undefined; inTime: boolean } {
    const value: unknown = JSON.parse(body);
    const start = performance.now();
    const answer = isOfficial(value);
    return { isOfficial: answer, inTime: performance.now() - start < SECOND };
  }
  const GOOD = { isOfficial: true, inTime: true };

  it('MWP-MSN-009, MWP-MSN-009b: the first of a Group, a later one, that of an archive, and the one after it', async () => {
    const { tenant, mission, other } = played;
    const rows = [await snapshotFor(tenant, mission.groupId, blobs)];
    await mission.authorize();
    rows.push(await snapshotFor(tenant, mission.groupId, blobs));
    rows.push((await archiveGroup(tenant, other, await archivistOf(tenant), blobs)).row);
    rows.push(await snapshotFor(tenant, other.groupId, blobs));
    expect(new Set(rows.map(({ snapshotId }) => snapshotId)).size).toBe(4);
    expect(rows.map(judged)).toEqual(rows.map(() => GOOD));
    const [first] = rows;
    expect(judged({ body: JSON.stringify({ ...JSON.parse(first!.body), more: 1 }) }).isOfficial).toBe(false);
  });

  it(`MWP-MSN-009: one with ${POLICY_ENTRIES_MAXIMUM} policy entries and the ids of ${SEGMENTS} segments, too`, async () => {
    const { organization, store } = played.tenant;
    const { organizationId, authority } = organization;
    await played.mission.authorize();
    const about = { organizationId, groupId: played.mission.groupId, blobs, progress: undefined };
    const gathered = (await store.read(organizationId, (reader) => gather(reader, about))) as Gathered;
    const [entry] = await store.read(organizationId, (reader) => reader.policyLog(played.mission.groupId, 0, 1));
    const details = JSON.parse(entry!.details) as { [name: string]: never };
    const { decision, actor, occurredAt } = entry!;
    const entries = Array.from({ length: POLICY_ENTRIES_MAXIMUM }, () => {
      return { entryId: id(), decision, actor, occurredAt, details };
    });
    const eventIds = Array.from({ length: 2 * SEGMENTS + 1 }, () => id());
    const large = { ...gathered, eventIds, policyLog: { after: 0, through: POLICY_ENTRIES_MAXIMUM, entries } };
    const { row } = await signSnapshot(organization, large, {
      organizations: store.organizations,
      signer: played.tenant.keyOf(authority).signer,
      createdAt: played.tenant.now(),
      newId: id,
    });
    expect(row.body.length).toBeGreaterThan(500_000);
    expect(judged(row)).toEqual(GOOD);
    const twice = JSON.stringify({ ...JSON.parse(row.body), eventIds: [...eventIds, eventIds[0]] });
    expect(judged({ body: twice })).toEqual({ isOfficial: false, inTime: true });
  });
});
