// What `mwp verify` says of snapshots: nothing where all is well, and of each thing that is not so a sentence.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyOrganization, type StreamReport } from '../../src/archive/verify-organization.ts';
import type { GroupSnapshot } from '../../src/protocol/documents/group-snapshot.ts';
import type { SnapshotRow } from '../../src/store/port.ts';
import { Findings } from '../../src/archive/findings.ts';
import { checkAssembledState } from '../../src/archive/verify-snapshot-blobs.ts';
import { linkOf, type StatePack } from '../../src/trust/snapshot-link.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { canonicalHash, sha256Label } from '../../src/wire/canonical.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { MemoryBlobs, snapshotsOf } from '../support/snapshots.ts';
import { verifyEverything } from '../support/verified.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';
import { Vandal, type Row } from './vandal.ts';

describe.each(STORES)('verified snapshots on $name', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let blobs: MemoryBlobs;
  let rows: SnapshotRow[];
  let vandal: Vandal;
  beforeEach(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    blobs = new MemoryBlobs();
    rows = [];
    for (let round = 0; round < 3; round += 1) {
      const { tenant, mission } = played;
      const taken = await snapshotsOf(tenant, blobs).takeSnapshot(tenant.organization, mission.groupId);
      rows.push(taken!.row);
      await mission.authorize();
    }
    vandal = await Vandal.over(opened);
  });
  afterEach(async () => {
    await vandal.close();
    await opened.close();
  });

  const faults = () => verifyEverything(opened.store, played.tenant.organization, blobs);

  it('finds nothing where nothing was touched, with the bytes and without them', async () => {
    expect(await faults()).toEqual([]);
    expect(await verifyEverything(opened.store, played.tenant.organization)).toEqual([]);
  });

  it('finds changed bytes, and notes ones that are gone: of the signed document, the state document and a pack', async () => {
    const { organizationId } = played.tenant.organization;
    const last = rows.at(-1)!;
    const [base] = JSON.parse(last.packs) as StatePack[];
    for (const address of [last.artifactHash, last.stateHash, base!.hash]) {
      const key = `${organizationId} ${address}`;
      const bytes = blobs.kept.get(key)!;
      blobs.kept.delete(key);
      const reports: StreamReport[] = [];
      await opened.store.read(organizationId, (reader) =>
        verifyOrganization(played.tenant.organization, reader, { blobs, told: (report) => reports.push(report) }),
      );
      expect(reports.flatMap(({ sentences }) => sentences)).toEqual([]);
      expect(reports.flatMap(({ notes }) => notes)).toContainEqual(
        expect.stringMatching(/bytes that it names are gone/),
      );
      blobs.kept.set(key, Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]));
      expect(await faults()).toContainEqual(expect.stringMatching(`the blob ${address} cannot be read: `));
      blobs.kept.set(key, bytes);
    }
    expect(await faults()).toEqual([]);
  });

  it('finds packs that do not give the signed state, though each is what its address says', async () => {
    const { organizationId } = played.tenant.organization;
    const last = rows.at(-1)!;
    const { statePacks } = linkOf(JSON.parse(last.body) as GroupSnapshot)!;
    expect(statePacks.length).toBeGreaterThan(1);
    const findings = new Findings();
    const toCheck = { organizationId, blobs, seen: new Map<string, boolean>() };
    const link = linkOf(JSON.parse(last.body) as GroupSnapshot)!;
    await checkAssembledState(last, link, toCheck, findings);
    expect(findings.sentences()).toEqual([]);
    for (const wrong of [statePacks.slice(1), statePacks.slice(0, -1), statePacks.toReversed()]) {
      const before = findings.count;
      await checkAssembledState(last, { ...link, statePacks: wrong }, toCheck, findings);
      expect([wrong.length, findings.count]).toEqual([wrong.length, before + 1]);
    }
  });

  it('a Group that was put back behind its last snapshot is found without any heads file', async () => {
    const { mission } = played;
    const before = new Map<string, Row[]>();
    for (const table of STORED) before.set(table, await vandal.rows(table));
    await mission.authorize();
    const { tenant } = played;
    await snapshotsOf(tenant, blobs).takeSnapshot(tenant.organization, mission.groupId);
    expect(await faults()).toEqual([]);
    // All but the snapshots: whoever cuts the tail off must not forget them.
    for (const [table, kept] of before) {
      await vandal.run(`DELETE FROM {${table}}`);
      for (const row of kept) await vandal.add(table, row);
    }
    expect(await faults()).toContainEqual(
      expect.stringMatching(/^urn:.* group_snapshots: position 4: .* was cut off$/),
    );
    // And another tail in its place is not what was signed for.
    await mission.authorize();
    await mission.authorize();
    expect(await faults()).toContainEqual(expect.stringMatching(/not what was signed in .*head/));
  });

  /** What a thief of the authority's key could put there: signed, admitted, and not true. */
  async function forge(change: (document: Unsigned) => Partial<Unsigned>): Promise<string[]> {
    const row = rows[1]!;
    const { signature: _, ...document } = JSON.parse(row.body) as GroupSnapshot;
    const { tenant } = played;
    const changed = { ...document, ...change(document) };
    const signed = signDocument('group-snapshot', changed, tenant.keyOf(tenant.organization.authority).signer);
    const stored = (await vandal.rows('group_snapshots')).find((one) => one['snapshot_id'] === row.snapshotId)!;
    const admission = (await vandal.rows('admissions')).find((one) => one['signing_hash'] === row.signingHash)!;
    const undoRow = await vandal.set('group_snapshots', stored, {
      body: signed.text,
      signing_hash: signed.signingHash,
      artifact_hash: sha256Label(signed.text),
      state_hash: changed.stateHash,
      through_sequence: changed.throughSequence,
    });
    const undoAdmission = await vandal.set('admissions', admission, {
      signing_hash: signed.signingHash,
      record: String(admission['record']).replace(row.signingHash, signed.signingHash),
    });
    const found = await faults();
    await undoAdmission?.();
    await undoRow?.();
    return found.filter((fault) => fault.includes('group_snapshots: position 2'));
  }

  const withLink = ({ policyLog: [link, ...rest] }: Unsigned, details: object) => ({
    policyLog: [{ ...link!, details: { ...link!.details, ...details } }, ...rest],
  });

  it('what the authority signed and history does not say is found, member by member', async () => {
    const other = canonicalHash('other');
    const { throughSequence, snapshotId } = rows[0]!;
    const forged: [RegExp, (document: Unsigned) => Partial<Unsigned>][] = [
      [/the state is not what the Events say/, () => ({ stateHash: other })],
      [/signed in eventIds/, ({ eventIds }) => ({ eventIds: eventIds.toReversed() })],
      [/signed in policyLog/, (document) => ({ policyLog: [...document.policyLog, document.policyLog[0]!] })],
      [/signed in previous/, (document) => withLink(document, { previous: null })],
      [
        /signed in previous/,
        (document) => withLink(document, { previous: { throughSequence, snapshotId, snapshotArtifactHash: other } }),
      ],
      [/signed in head/, (document) => withLink(document, { head: { revision: 1, chainHash: other, logHash: other } })],
      [/signed in range/, (document) => withLink(document, { policyLog: { after: 0, through: 9 } })],
      [/signed in organizationId/, (document) => withLink(document, { organizationId: 'urn:test:other' })],
      [/has no link/, (document) => withLink(document, { format: 2 })],
      [/signed in packs/, (document) => withLink(document, { statePacks: [{ hash: other, documents: 1, bytes: 1 }] })],
      [/signed in groupId/, () => ({ groupId: played.other.groupId })],
    ];
    expect(await forge(() => ({}))).toEqual([]);
    for (const [sentence, change] of forged) {
      expect(await forge(change)).toContainEqual(expect.stringMatching(sentence));
    }
    expect(await faults()).toEqual([]);
  });
});

const STORED = [
  'aggregates',
  'commands',
  'documents',
  'events',
  'policy_log',
  'receipts',
  'streams',
  'texts',
  'transitions',
];

type Unsigned = Omit<GroupSnapshot, 'signature'>;
