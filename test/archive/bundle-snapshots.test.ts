// The signed snapshots of a Group stand in its bundle, each after the transition that it is of, and are proven with no
// database: by signature and admission, by folding, and by the link from each to the one before.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BundleLine } from '../../src/archive/bundle-lines.ts';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { sealNext } from '../../src/archive/segments/seal.ts';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { canonicalText, sha256Label } from '../../src/wire/canonical.ts';
import { exportedText, faultsIn, inChunks, signedAnew } from '../support/bundles.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { MemoryBlobs, snapshotsOf } from '../support/snapshots.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';
import { flipped, seededRandom } from './vandal.ts';

const seed = Number(process.env['TAMPERING_SEED'] ?? Date.now() % 1_000_000);

type SnapshotLine = Extract<BundleLine, { line: 'snapshot' }>;

describe.each(STORES)('snapshots in a bundle of $name', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let text: string;
  let lines: string[];
  /** Places of the snapshots among the lines. */
  let places: number[];

  beforeAll(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    const { tenant, mission } = played;
    const blobs = new MemoryBlobs();
    const store = withSealedBodies(opened.store, blobs);
    const { organizationId } = tenant.organization;
    for (let round = 0; round < 3; round += 1) {
      await snapshotsOf(tenant, blobs, store).takeSnapshot(tenant.organization, mission.groupId);
      // What is sealed stands with its bounds in the snapshots after that.
      await sealNext({ store, blobs }, organizationId, mission.groupId, 5 * (round + 1));
      await mission.authorize();
    }
    text = await exportedText(tenant, mission.groupId, store);
    lines = text.trimEnd().split('\n');
    places = lines.flatMap((line, at) => (line.startsWith('{"line":"snapshot"') ? [at] : []));
  });
  afterAll(() => opened.close());

  const anew = (changed: readonly string[]) => signedAnew(played.tenant, changed, lines.at(-1) as string);
  const unsigned = () => lines.slice(0, -1);
  const snapshotAt = (place: number) => JSON.parse(lines[places[place] as number] as string) as SnapshotLine;
  const putting = (place: number, line: object) => unsigned().with(places[place] as number, JSON.stringify(line));

  it('MWP-MSN-009b: all of them are proven, with the segments that they name', async () => {
    const report = await verifyBundle(inChunks(text));
    expect([report.sentences, report.snapshots]).toEqual([[], 3]);
    expect(lines.filter((line) => line.startsWith('{"line":"segment"')).length).toBeGreaterThan(0);
    const eventIds = (place: number) => (JSON.parse(snapshotAt(place).row.body) as { eventIds: string[] }).eventIds;
    expect(eventIds(2).length).toBeGreaterThan(eventIds(0).length);
    expect(await faultsIn(anew(unsigned()))).toEqual([]);
  });

  it(`every byte of meaning in them is proven, where somebody signs the bundle anew (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    for (const part of ['row', 'admission'] as const) {
      const line = snapshotAt(1);
      for (const [name, value] of Object.entries(line[part] as object) as [string, unknown][]) {
        const column = { table: '', name, isNumber: typeof value === 'number' };
        const changed =
          typeof value === 'object' && value !== null
            ? { ...value, id: 'urn:test:service:another' }
            : flipped(value, column, random);
        const faults = await faultsIn(anew(putting(1, { ...line, [part]: { ...line[part], [name]: changed } })));
        expect([name, faults.length > 0 ? 'found' : JSON.stringify(changed)]).toEqual([name, 'found']);
      }
    }
  });

  it('MWP-WRK-030c: one that is dropped, moved, doubled or exchanged is found', async () => {
    const [first, second, third] = places as [number, number, number];
    const [a, b] = [lines[first] as string, lines[second] as string];
    const dropped = (place: number) => faultsIn(anew(unsigned().toSpliced(place, 1)));
    expect(await dropped(first)).toContainEqual(expect.stringMatching(/the signed document: .*previous/));
    expect(await dropped(second)).toContainEqual(expect.stringMatching(/the signed document: .*previous/));
    expect(await faultsIn(anew(unsigned().with(first, b).with(second, a)))).not.toEqual([]);
    expect(await faultsIn(anew(unsigned().toSpliced(first, 0, a)))).not.toEqual([]);
    expect(
      await faultsIn(
        anew(
          unsigned()
            .toSpliced(third, 1)
            .toSpliced(first, 0, lines[third] as string),
        ),
      ),
    ).toContainEqual(expect.stringMatching(/is of no transition's end/));
    // The last one is named by nothing but the statement.
    expect(await faultsIn(`${lines.toSpliced(third, 1).join('\n')}\n`)).toContainEqual(
      expect.stringMatching(/not those that the authority signed for/),
    );
  });

  it('GDE-7: a snapshot of another state is found by folding, though the authority signed it', async () => {
    const { tenant } = played;
    const { row } = snapshotAt(2);
    const { signature: _, ...document } = JSON.parse(row.body) as Record<string, unknown>;
    const stateHash = `sha256:${'1'.repeat(64)}`;
    const signed = signDocument(
      'group-snapshot',
      { ...document, stateHash } as never,
      tenant.keyOf(tenant.organization.authority).signer,
    );
    const body = canonicalText(signed.document);
    const changed = { ...snapshotAt(2), row: { ...row, stateHash, body, artifactHash: sha256Label(body) } };
    expect(await faultsIn(anew(putting(2, changed)))).toContainEqual(
      expect.stringMatching(/the state is not what the Events say/),
    );
  });

  it('a segment that ends elsewhere, or a line of snapshots in the format that had none, is refused', async () => {
    const at = lines.findIndex((line) => line.startsWith('{"line":"segment"'));
    const moved = unsigned().with(at, JSON.stringify({ line: 'segment', lastSequence: 4_000 }));
    expect(await faultsIn(anew(moved))).toContainEqual(expect.stringMatching(/segments: one ends at 4000/));
    expect(await faultsIn(anew(unsigned().toSpliced(at, 1)))).toContainEqual(expect.stringMatching(/eventIds/));
    const old = (line: string) => line.replace('"format":2', '"format":1');
    expect(await faultsIn(anew(unsigned().map(old)))).toContainEqual(
      expect.stringMatching(/in a format that has none/),
    );
    const without = unsigned().filter((line) => !/^\{"line":"(segment|snapshot)"/.test(line));
    expect(await faultsIn(anew(without.map(old)))).toEqual([]);
  });
});
