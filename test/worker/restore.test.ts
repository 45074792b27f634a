// Restoring refuses whatever does not check, one negative a check, and hands out nothing then: a projection and a cursor that
// stand stay as they are.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupSnapshot } from '../../src/protocol/documents/group-snapshot.ts';
import type { SnapshotRow } from '../../src/store/port.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import type { AggregateLine, StateHeader } from '../../src/wire/state-lines.ts';
import type { GroupFold } from '../../src/worker/group-fold.ts';
import { restoreGroup, type ExpectedSnapshot, type OfferedSnapshot } from '../../src/worker/restore.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { expectedBy, inChunks, MemoryBlobs, offered, snapshotsOf } from '../support/snapshots.ts';
import { playOrganization, type PlayedOrganization } from '../archive/played-organization.ts';

describe('restoring a Group from a snapshot', () => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let row: SnapshotRow;
  let foreign: { row: SnapshotRow; good: OfferedSnapshot };
  let good: OfferedSnapshot;
  let expected: ExpectedSnapshot;
  let header: StateHeader;
  let lines: AggregateLine[];
  /** What a member holds already. */
  let held: { projection: GroupFold; cursor: number };

  beforeAll(async () => {
    const [sqlite] = STORES;
    opened = await sqlite!.open();
    played = await playOrganization(opened.store);
    const { tenant, mission, other } = played;
    const blobs = new MemoryBlobs();
    const snapshots = snapshotsOf(tenant, blobs);
    const before = (await snapshots.takeSnapshot(tenant.organization, mission.groupId))!.row;
    expected = expectedBy(tenant, mission.groupId);
    const outcome = await restoreGroup(await offered(tenant, before, blobs), expected);
    if (!outcome.ok) throw new Error(outcome.fault);
    held = { projection: outcome.fold, cursor: before.throughSequence };
    await mission.authorize();
    row = (await snapshots.takeSnapshot(tenant.organization, mission.groupId))!.row;
    good = await offered(tenant, row, blobs);
    const foreignRow = (await snapshots.takeSnapshot(tenant.organization, other.groupId))!.row;
    foreign = { row: foreignRow, good: await offered(tenant, foreignRow, blobs) };
    let text = '';
    for await (const chunk of good.state()) text += Buffer.from(chunk).toString('utf8');
    const [first, ...rest] = text.trimEnd().split('\n');
    header = JSON.parse(first!) as StateHeader;
    lines = rest.map((line) => JSON.parse(line) as AggregateLine);
  });
  afterAll(() => opened.close());

  /** As a member does it: what it holds is given up for what was restored, and for nothing else. */
  async function tryWith(change: Partial<OfferedSnapshot>, about: Partial<ExpectedSnapshot> = {}) {
    const before = { stateHash: held.projection.stateHash(), cursor: held.cursor };
    const outcome = await restoreGroup({ ...good, ...change }, { ...expected, ...about });
    expect({ stateHash: held.projection.stateHash(), cursor: held.cursor }).toEqual(before);
    return outcome.ok ? 'restored' : outcome.fault;
  }

  const snapshot = () => structuredClone(good.snapshot) as GroupSnapshot;
  const stream = (...texts: (object | string)[]) => ({
    state: () => inChunks(texts.map((text) => (typeof text === 'string' ? text : `${JSON.stringify(text)}\n`))),
  });
  const last = () => lines.at(-1)!;

  /** Signed anew by a service of the Organization, and admitted by whoever says so. */
  function signedBy(change: Partial<GroupSnapshot>, service = played.tenant.organization.authority) {
    const { signature: _, ...unsigned } = { ...snapshot(), ...change };
    const { document, signingHash } = signDocument('group-snapshot', unsigned, played.tenant.keyOf(service).signer);
    const record = good.admissionRecord as Record<string, unknown>;
    const { keyId } = played.tenant.keyOf(service);
    return { snapshot: document, admissionRecord: { ...record, signingHash, keyId, principal: service } };
  }

  it('GDE-7: what checks is restored, and goes on after its sequence', async () => {
    const about = { snapshotArtifactHash: row.artifactHash, after: held.cursor };
    const outcome = await restoreGroup(good, { ...expected, ...about });
    expect(outcome.ok && outcome.fold.throughSequence).toBe(row.throughSequence);
    expect(outcome.ok && outcome.fold.stateHash()).toBe(row.stateHash);
    expect(await tryWith(stream(header, ...lines))).toBe('restored');
    expect(await tryWith(signedBy({}))).toBe('restored');
  });

  it('MWP-WRK-030c: another document than the one that was named is refused', async () => {
    const named = { snapshotArtifactHash: row.artifactHash };
    expect(await tryWith(foreign.good, named)).toBe('artifact-hash');
    expect(await tryWith({ snapshot: { ...snapshot(), createdAt: row.createdAt.replace('Z', '0Z') } }, named)).toBe(
      'artifact-hash',
    );
    expect(await tryWith({}, { snapshotArtifactHash: canonicalHash('another') })).toBe('artifact-hash');
  });

  it('GDE-7: what has not the form of a snapshot is refused', async () => {
    for (const wrong of [undefined, null, 'x', [], {}, { ...snapshot(), more: 1 }, { ...snapshot(), eventIds: [] }]) {
      expect([wrong, await tryWith({ snapshot: wrong })]).toEqual([wrong, 'schema']);
    }
    // Signed by the authority, and without the link that says to which Organization it belongs.
    const [link, ...rest] = snapshot().policyLog;
    const { organizationId: _, ...details } = link!.details;
    expect(await tryWith(signedBy({ policyLog: [{ ...link!, details }, ...rest] }))).toBe('schema');
  });

  it('GDE-7, MWP-WRK-030c: a changed member and an unknown key are refused by the signature', async () => {
    const { signature } = snapshot();
    for (const change of [
      { throughSequence: row.throughSequence + 1 },
      { stateHash: canonicalHash('another') },
      { groupId: 'urn:test:group:another' },
      { eventIds: snapshot().eventIds.toReversed() },
      { policyLog: snapshot().policyLog.slice(0, 1), snapshotId: 'urn:test:another' },
      { signature: { ...signature, keyId: 'urn:test:key:none' } },
    ]) {
      expect([change, await tryWith({ snapshot: { ...snapshot(), ...change } })]).toEqual([change, 'signature']);
    }
  });

  it('GDE-7: another service of the Organization is not the authority of the Group', async () => {
    const { registrar } = played.tenant.organization;
    const createdBy = { type: 'service' as const, id: registrar.id };
    expect(await tryWith(signedBy({ createdBy }, registrar))).toBe('signer');
  });

  it('MWP-ADM-009: without its own First-Admission Record it is refused', async () => {
    const record = good.admissionRecord as object;
    for (const wrong of [
      undefined,
      {},
      foreign.good.admissionRecord,
      { ...record, acceptedBy: played.tenant.organization.registrar },
      { ...record, trustedAcceptedAt: '2019-01-01T00:00:00Z' },
    ]) {
      expect([wrong, await tryWith({ admissionRecord: wrong })]).toEqual([wrong, 'admission']);
    }
  });

  it('GDE-7: of another Organization, and of another Group, it is refused', async () => {
    const [link, ...rest] = snapshot().policyLog;
    const elsewhere = { ...link!, details: { ...link!.details, organizationId: 'urn:test:organization:other' } };
    expect(await tryWith(signedBy({ policyLog: [elsewhere, ...rest] }))).toBe('organization');
    expect(await tryWith(stream({ ...header, organizationId: 'urn:test:organization:other' }, ...lines))).toBe(
      'organization',
    );
    expect(await tryWith(foreign.good)).toBe('group');
    expect(await tryWith(stream({ ...header, groupId: 'urn:test:group:other' }, ...lines))).toBe('group');
  });

  it('GDE-7: one that would take the cursor back is refused, and so is the state of another sequence', async () => {
    expect(await tryWith({}, { after: row.throughSequence })).toBe('restored');
    expect(await tryWith({}, { after: row.throughSequence + 1 })).toBe('sequence');
    expect(await tryWith(stream({ ...header, throughSequence: 1 }, ...lines))).toBe('sequence');
  });

  it('GDE-7: a state that is not the signed one is refused: changed, short, long, twice, of another Group', async () => {
    const { document } = last();
    for (const state of [
      [header, ...lines.slice(0, -1)],
      [header, ...lines.slice(0, -1), { ...last(), document: { ...document, more: 1 } }],
      [header, ...lines.slice(0, -1), { ...last(), id: 'urn:test:another' }],
      [header, ...lines.slice(0, -1), lines[0]!],
      [{ ...header, aggregates: lines.length + 1 }, ...lines, lines[0]!],
      [{ ...header, stateHash: foreign.row.stateHash }, ...lines],
    ]) {
      expect(await tryWith(stream(...state))).toBe('state-hash');
    }
    expect(await tryWith({ state: foreign.good.state })).toBe('group');
  });

  it('a stream that is none is refused, and read no further than it is wrong', async () => {
    const text = (line: object) => `${JSON.stringify(line)}\n`;
    for (const state of [
      [],
      ['\n'],
      [lines[0]!],
      [{ ...header, format: 2 }, ...lines],
      [header, ...lines.slice(0, -1), text(last()).slice(0, -1)],
      [header, text(lines[0]!).replace('{', '{"kind":"x",')],
      [header, { ...lines[0]!, kind: 'constructor' }],
      [header, ...lines, lines[0]!],
      [header, { kind: 'work_item', id: 'x' }],
    ]) {
      expect([state.length, await tryWith(stream(...state))]).toEqual([state.length, 'state-unreadable']);
    }
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1_048_576;
        yield Buffer.alloc(1_048_576, 'a');
      }
    }
    expect(await tryWith({ state: endless })).toBe('state-unreadable');
    expect(given).toBeLessThan(20_000_000);
  });

  it('of a snapshot that is refused the state is not even asked for', async () => {
    let asked = false;
    const state = () => {
      asked = true;
      return good.state();
    };
    expect(await tryWith({ snapshot: {}, state })).toBe('schema');
    expect(asked).toBe(false);
  });
});
