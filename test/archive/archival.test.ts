// A Group archived through the pipeline, on both stores: what is appended and what is not, what proves it afterwards, and
// what a member folds.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportGroup } from '../../src/archive/export-group.ts';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import type { GroupSnapshot } from '../../src/protocol/documents/group-snapshot.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { sha256Label } from '../../src/wire/canonical.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { restoreGroup } from '../../src/worker/restore.ts';
import { ARCHIVE } from '../support/archival.ts';
import { archiveDraft, archiveGroup, archivistOf, snapshotFor } from '../support/archived-groups.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { eventsAfter, expectedBy, MemoryBlobs, offered } from '../support/snapshots.ts';
import { verifyEverything } from '../support/verified.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';
import { Vandal } from './vandal.ts';

describe.each(STORES)('an archived Group on $name', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let blobs: MemoryBlobs;
  let archivist: ActorKey;
  beforeEach(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    blobs = new MemoryBlobs();
    archivist = await archivistOf(played.tenant);
  });
  afterEach(() => opened.close());

  const groupId = () => played.other.groupId;
  const archived = () => archiveGroup(played.tenant, played.other, archivist, blobs);
  const faults = () => verifyEverything(opened.store, played.tenant.organization, blobs);
  const outcomeOf = (snapshot: object) =>
    played.tenant.outcome(archivist, { kind: ARCHIVE, groupId: groupId(), payload: { snapshot } });
  const read = <Answer>(work: Parameters<typeof opened.store.read<Answer>>[1]) =>
    opened.store.read(played.tenant.organization.organizationId, work);
  const headOf = async () => (await read((reader) => reader.stream(groupId())))!;

  it('MWP-EVT-005e: has both Events at its head, and its policy log the entry; all of it proves itself', async () => {
    const { row, receipt, events } = await archived();
    expect(events.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['group.snapshot.created', row.throughSequence + 1],
      ['group.archived', row.throughSequence + 2],
    ]);
    expect(receipt.primaryEventId).toBe(events[1]?.eventId);
    expect(events[0]?.payload).toEqual({
      snapshotId: row.snapshotId,
      throughSequence: row.throughSequence,
      stateHash: row.stateHash,
      snapshotHash: row.artifactHash,
    });
    const head = await headOf();
    expect(head.position).toBe(row.throughSequence + 2);
    const [entry] = await read((reader) => reader.policyLog(groupId(), head.policyPosition - 1, 1));
    expect(entry).toMatchObject({
      decision: 'the Group is archived',
      eventId: events[1]?.eventId,
      actor: archivist.principal,
    });
    expect(await faults()).toEqual([]);
  });

  it('admits the snapshot that it was taken with, and stores no second record and no second document', async () => {
    const before = await read((reader) => reader.rowCounts());
    const { row } = await archived();
    const counts = await read((reader) => reader.rowCounts());
    // Of the snapshot, when it was taken, and of the Command.
    expect(counts.admissions - before.admissions).toBe(2);
    expect(counts.documents).toBe(before.documents);
    expect(await read((reader) => reader.admission(row.signingHash))).toMatchObject({
      streamId: `snapshots ${groupId()}`,
    });
  });

  it('MWP-EVT-003: a repeated Command answers the same receipt; another one is told that the Group is archived', async () => {
    const { tenant } = played;
    const draft = archiveDraft(await snapshotFor(tenant, groupId(), blobs));
    const bytes = tenant.sign(archivist, draft);
    const first = await tenant.submitBytes(bytes, archivist.principal);
    const second = await tenant.submitBytes(bytes, archivist.principal);
    expect([first, second]).toMatchObject([
      { accepted: true, duplicate: false },
      { accepted: true, duplicate: true },
    ]);
    if (!first.accepted || !second.accepted) return;
    expect(second.receipt).toBe(first.receipt);
    expect(second.events).toEqual(first.events);
    expect(await tenant.outcome(archivist, draft)).toBe('INVALID_STATE_TRANSITION');
  });

  it('of two that archive at once one wins, beside others who write into the Group until then', async () => {
    const { tenant, other } = played;
    const draft = archiveDraft(await snapshotFor(tenant, groupId(), blobs));
    const late = () =>
      other.outcome(other.owner, 'message.post', { messageId: 'urn:test:m', conversationId: 'urn:x', content: 'x' });
    const outcomes = await Promise.all([...[1, 2, 3, 4].map(() => tenant.outcome(archivist, draft)), late(), late()]);
    expect(outcomes.slice(0, 4).sort()).toEqual([
      'INVALID_STATE_TRANSITION',
      'INVALID_STATE_TRANSITION',
      'INVALID_STATE_TRANSITION',
      'accepted',
    ]);
    expect(tenant.alarms).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  it('MWP-ADM-014b, MWP-EVT-005e: is none, and has neither Event, where the snapshot is not the one that was taken here, or not of its head', async () => {
    const { tenant, mission } = played;
    const { body } = await snapshotFor(tenant, groupId(), blobs);
    const { signature: _signature, ...rest } = JSON.parse(body) as GroupSnapshot;
    const { authority } = tenant.organization;
    const signed = (more: object, key: ActorKey = tenant.keyOf(authority)) =>
      signDocument('group-snapshot', { ...rest, createdBy: key.principal, ...more } as typeof rest, key.signer)
        .document;
    const head = await headOf();
    const signature = { ...(JSON.parse(body) as GroupSnapshot).signature, value: 'A'.repeat(86) };
    expect(await outcomeOf({ ...rest, signature })).toBe('AUTH_INVALID_SIGNATURE');
    expect(await outcomeOf({ ...rest })).toBe('SCHEMA_VALIDATION_FAILED');
    expect(await outcomeOf(signed({}, archivist))).toBe('AUTH_FORBIDDEN');
    expect(await outcomeOf(signed({ snapshotId: 'urn:test:snapshot:mine' }))).toBe('INVALID_COMMAND');
    expect(await outcomeOf(signed({ stateHash: `sha256:${'0'.repeat(64)}` }))).toBe('INVALID_COMMAND');
    expect(await outcomeOf(signed({ policyLog: rest.policyLog.slice(0, 1) }))).toBe('INVALID_COMMAND');
    expect(await outcomeOf(signed({ throughSequence: 1 }))).toBe('REVISION_CONFLICT');
    const ofOther = await snapshotFor(tenant, mission.groupId, blobs);
    expect(await outcomeOf(JSON.parse(ofOther.body) as object)).toBe('INVALID_COMMAND');
    expect(await tenant.outcome(archivist, archiveDraft(ofOther))).toBe('INVALID_STATE_TRANSITION');
    expect(await headOf()).toEqual(head);
    expect(await outcomeOf(JSON.parse(body) as object)).toBe('accepted');
  });

  it('MWP-MSN-009d: is folded by members whole, and from its snapshot on', async () => {
    const { tenant } = played;
    const { row } = await archived();
    const { organizationId } = tenant.organization;
    const restored = await restoreGroup(await offered(tenant, row, blobs), expectedBy(tenant, groupId()));
    if (!restored.ok) throw new Error(restored.fault);
    const tail = await eventsAfter(tenant, groupId(), row.throughSequence);
    expect(tail.map((event) => restored.fold.add(event))).toEqual(['folded', 'folded']);
    const { fold } = restored;
    expect(fold.stateHash()).toBe(foldedStateHash(organizationId, groupId(), await eventsAfter(tenant, groupId(), 0)));
    expect(fold.view.get('group', groupId())).toMatchObject({ state: 'archived', archiveSnapshotId: row.snapshotId });
  });

  it('proves itself offline; a snapshot taken afterwards does no harm', async () => {
    const { tenant } = played;
    const { row } = await archived();
    const later = await snapshotFor(tenant, groupId(), blobs);
    expect(later.throughSequence).toBe(row.throughSequence + 2);
    const text = await exported();
    expect(text).toContain('group.archived');
    expect((await verifyBundle(inOne(text))).sentences).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  it('MWP-MSN-009c: a redacted Message is erased after it; its snapshot stands, and all of it proves itself', async () => {
    const { tenant, mission } = played;
    await mission.accept(mission.owner, 'mission.cancel', { reason: 'no longer needed' });
    const { row } = await archiveGroup(tenant, mission, archivist, blobs);
    const said = (await eventsAfter(tenant, mission.groupId, 0)).find(({ kind }) => kind === 'message.posted');
    const { messageId } = said?.payload['message'] as { messageId: string };
    const eraser = await tenant.service('eraser', [EVENT_ERASE]);
    await tenant.accept(eraser, mission.draft(EVENT_ERASE, { messageId, reasonCode: 'legal_request' }));
    expect(await faults()).toEqual([]);
    expect((await verifyBundle(inOne(await exported(mission.groupId)))).sentences).toEqual([]);
    const restored = await restoreGroup(await offered(tenant, row, blobs), expectedBy(tenant, mission.groupId));
    if (!restored.ok) throw new Error(restored.fault);
    const tail = await eventsAfter(tenant, mission.groupId, row.throughSequence);
    expect(tail.map((event) => restored.fold.add(event))).toEqual(['folded', 'folded', 'folded']);
    const { organizationId } = tenant.organization;
    const whole = await eventsAfter(tenant, mission.groupId, 0);
    expect(restored.fold.stateHash()).toBe(foldedStateHash(organizationId, mission.groupId, whole));
    expect(restored.fold.view.get('message', messageId)?.erasure).toMatchObject({ reasonCode: 'legal_request' });
    // The signed state of the archive knows nothing of it.
    expect((await snapshotFor(tenant, mission.groupId, blobs)).stateHash).not.toBe(row.stateHash);
  });

  async function exported(ofGroup = groupId()): Promise<string> {
    const { organization, store } = played.tenant;
    const { keyId, signer } = played.tenant.keyOf(organization.authority);
    let text = '';
    const write = async (more: string) => void (text += more);
    const exportedAt = played.tenant.now();
    await store.read(organization.organizationId, (reader) =>
      exportGroup(reader, { organization, groupId: ofGroup, signer: { ...signer, keyId }, exportedAt, write }),
    );
    return text;
  }

  it('is not proven without its snapshot, nor with another one in its place', async () => {
    await archived();
    const vandal = await Vandal.over(opened);
    try {
      const [row] = await vandal.rows('group_snapshots');
      const signed = JSON.parse(String(row!['body'])) as GroupSnapshot;
      const { signature: _signature, ...rest } = { ...signed, snapshotId: 'urn:test:snapshot:other' };
      const { text, signingHash } = signDocument('group-snapshot', rest, played.tenant.keyOf(signed.createdBy).signer);
      const other = {
        snapshot_id: rest.snapshotId,
        signing_hash: signingHash,
        artifact_hash: sha256Label(text),
        body: text,
      };
      await vandal.set('group_snapshots', row!, other);
      expect(await faults()).toContain(
        `${groupId()}: group_snapshots: the one that the Group was archived on is not the latest before that`,
      );
      await vandal.remove('group_snapshots', (await vandal.rows('group_snapshots'))[0]!);
      expect((await faults()).join('\n')).toContain('the one that the Group was archived on');
    } finally {
      await vandal.close();
    }
  });
});

async function* inOne(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'utf8');
}
