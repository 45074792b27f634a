// Whatever stored row is changed behind the service's back, `mwp verify` finds it: each column once on both stores, thousands
// of random bytes, rows that are gone, that are too many and that changed places. Each change is undone after it was found.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifySealedKeys } from '../../src/cli/sealed-keys.ts';
import type { KeyVault } from '../../src/platform/key-vault.ts';
import { COUNTED_TABLES, StoreFault } from '../../src/store/port.ts';
import { isOrganizationStream } from '../../src/archive/check-state.ts';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { sealNext } from '../../src/archive/segments/seal.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { MemoryBlobs, snapshotsOf } from '../support/snapshots.ts';
import type { Tenant } from '../support/tenant.ts';
import { verifyEverything } from '../support/verified.ts';
import { playOrganization, playSmallOrganization } from './played-organization.ts';
import { flipped, seededRandom, Vandal, type Column, type Row } from './vandal.ts';

const seed = Number(process.env['TAMPERING_SEED'] ?? Date.now() % 1_000_000);
/** About 10 ms each; `npm run test:tampering` takes five times as many. */
const FLIPS = Number(process.env['TAMPERING_FLIPS'] ?? 1_000);
const RANDOM_TIMEOUT = 30_000 + FLIPS * 100;

const REGISTRY = ['organizations', 'principals', 'key_bindings', 'key_validity', 'policies', 'registry_log'];
const VERIFIED = [...COUNTED_TABLES, 'sealed_keys', ...REGISTRY];
/** All but the one row that is the Organization: another one beside it is another tenant's. */
const OF_AN_ORGANIZATION = VERIFIED.filter((table) => table !== 'organizations');
/** What is not proven, and why. */
const NOT_VERIFIED = {
  audit: 'a protected record of refusals, which drops its oldest rows',
  challenges: 'forgotten when they expire',
  blobs: 'bytes that prove themselves by their hash, whenever they are read',
  blob_pieces: 'as blobs',
  erasures: 'what is still to be destroyed; what was shows in the rows that it left',
  sealed_audits: 'where refusals are that were sealed; it opens or it does not, and is purged',
  tenant_keys: 'what is wrapped under one opens or does not',
  uploads: 'who brought which bytes, forgotten after a day; the bytes prove themselves by their hash',
};

/** So that some Events of each Group are sealed and some are not. */
const SEALED_THROUGH = 4;

interface Scene {
  opened: OpenedStore;
  vandal: Vandal;
  tenant: Tenant;
  vault: KeyVault;
  segments: MemoryBlobs;
}

async function sceneOf(opened: OpenedStore, play: typeof playSmallOrganization): Promise<Scene> {
  const { tenant, vault } = await play(opened.store);
  const snapshots = snapshotsOf(tenant, new MemoryBlobs());
  const segments = new MemoryBlobs();
  const { organization } = tenant;
  for (const groupId of await opened.store.read(organization.organizationId, (reader) => reader.streamIds())) {
    if (isOrganizationStream(groupId)) continue;
    await snapshots.takeSnapshot(organization, groupId);
    await sealNext({ store: opened.store, blobs: segments }, organization.organizationId, groupId, SEALED_THROUGH);
  }
  return { opened, tenant, vault, segments, vandal: await Vandal.over(opened) };
}

async function faultsIn({ tenant: { store, organization }, vault, segments }: Scene): Promise<string[]> {
  try {
    const faults = await verifyEverything(withSealedBodies(store, segments, { again: false }), organization);
    const keys = await verifySealedKeys(store.organizations, organization, vault);
    return [...faults, ...keys.sentences];
  } catch (error) {
    // The Organization itself is not there any more: told by the store.
    if (error instanceof StoreFault && error.kind === 'corrupt') return [`organizations: ${error.message}`];
    throw error;
  }
}

/** Every sentence names a table or begins with the stream that it is about. */
function expectFound(what: unknown, faults: readonly string[]): void {
  expect([what, faults.length > 0 ? 'found' : 'not found']).toEqual([what, 'found']);
  const named = faults.filter(
    (fault) =>
      VERIFIED.some((table) => fault.includes(`${table}: `)) ||
      /^(urn:|card |session )/.test(fault) ||
      fault.startsWith('the sealed key'),
  );
  expect([what, named]).toEqual([what, faults]);
}

describe.each(STORES)('tampering on $name', ({ open }) => {
  const random = seededRandom(seed);
  let scene: Scene;
  beforeAll(async () => {
    scene = await sceneOf(await open(), playOrganization);
  });
  afterAll(async () => {
    await scene.vandal.close();
    await scene.opened.close();
  });

  const anyRow = async (table: string): Promise<Row> => {
    const rows = await scene.vandal.rows(table);
    expect([table, rows.length > 0]).toEqual([table, true]);
    return rows[random(rows.length)] as Row;
  };

  async function expectFoundAndUndone(what: unknown, undo: (() => Promise<void>) | undefined): Promise<void> {
    if (!undo) throw new Error(`${String(what)}: the database refused the change itself`);
    const faults = await faultsIn(scene);
    await undo();
    expectFound(what, faults);
  }

  it('every table is verified here, or is not for a reason', async () => {
    const tables = await scene.vandal.tables();
    expect(tables.toSorted()).toEqual([...VERIFIED, ...Object.keys(NOT_VERIFIED)].toSorted());
    expect(await faultsIn(scene)).toEqual([]);
  });

  it(`a byte of any column is found (seed ${seed})`, { timeout: 120_000 }, async () => {
    const columns = await scene.vandal.columns(VERIFIED);
    expect(columns.length).toBeGreaterThan(90);
    for (const column of columns) {
      const row = await anyRow(column.table);
      for (;;) {
        const changed = flipped(row[column.name], column, random);
        const undo = await scene.vandal.set(column.table, row, { [column.name]: changed });
        if (!undo) continue; // PostgreSQL takes no document that is not JSON
        await expectFoundAndUndone(
          `${column.table}.${column.name}: ${String(row[column.name])} → ${String(changed)}`,
          undo,
        );
        break;
      }
    }
    expect(await faultsIn(scene)).toEqual([]);
  });

  it(`a row that is gone is found, of every table (seed ${seed})`, { timeout: 60_000 }, async () => {
    for (const table of VERIFIED) {
      const row = await anyRow(table);
      await expectFoundAndUndone(`${table} without ${JSON.stringify(row)}`, await scene.vandal.remove(table, row));
    }
    expect(await faultsIn(scene)).toEqual([]);
  });

  it('a row that is there too much is found, of every table', { timeout: 60_000 }, async () => {
    const fresh: Record<string, Row> = {
      streams: { stream_id: 'urn:test:stream:more' },
      transitions: { revision: 1_000 },
      events: { position: 1_000, event_id: 'urn:test:event:more' },
      aggregates: { kind: 'approval', id: 'urn:test:approval:more', group_id: 'urn:test:group:more' },
      texts: { commitment: 'sha256:more' },
      commands: { signing_hash: 'sha256:more' },
      documents: { signing_hash: 'sha256:more' },
      admissions: { signing_hash: 'sha256:more', admission_record_id: 'urn:test:record:more' },
      receipts: { action_id: 'urn:test:action:more' },
      policy_log: { position: 1_000, entry_id: 'urn:test:entry:more' },
      group_snapshots: { position: 2, snapshot_id: 'urn:test:snapshot:more' },
      segments: { position: 2, last_sequence: 1_000, last_revision: 1_000 },
      withheld: { position: 1 },
      renditions: { position: 1 },
      sealed_keys: { key_id: 'urn:test:key:more' },
      principals: { principal_id: 'urn:test:human:more' },
      key_bindings: { key_id: 'urn:test:key:more', public_key: 'more' },
      key_validity: { sequence: 1_000 },
      policies: { version: 1_000 },
      registry_log: { revision: 1_000 },
    };
    for (const table of OF_AN_ORGANIZATION) {
      const row = { ...(await anyRow(table)), ...fresh[table] };
      await expectFoundAndUndone(`${table} with one more`, await scene.vandal.add(table, row));
    }
    expect(await faultsIn(scene)).toEqual([]);
  });

  it('two rows that changed places are found, of every table', { timeout: 60_000 }, async () => {
    /** What is left in its place. */
    const keys: Record<string, string[]> = {
      streams: ['stream_id'],
      transitions: ['stream_id', 'revision'],
      events: ['stream_id', 'position', 'event_id'],
      aggregates: ['kind', 'id'],
      texts: ['group_id', 'commitment'],
      commands: ['signing_hash'],
      documents: ['signing_hash'],
      admissions: ['signing_hash', 'admission_record_id'],
      receipts: ['actor_type', 'actor_id', 'action_id'],
      policy_log: ['group_id', 'position', 'entry_id'],
      group_snapshots: ['group_id', 'position', 'snapshot_id'],
      segments: ['group_id', 'position', 'last_sequence', 'last_revision'],
      withheld: ['group_id', 'position', 'cause'],
      renditions: ['group_id', 'position', 'cause'],
      sealed_keys: ['key_id'],
      principals: ['principal_type', 'principal_id'],
      key_bindings: ['key_id', 'public_key'],
      key_validity: ['key_id', 'sequence'],
      policies: ['version'],
      registry_log: ['revision'],
    };
    for (const table of OF_AN_ORGANIZATION) {
      const rows = await scene.vandal.rows(table);
      const [a, b] = [rows[0] as Row, rows.at(-1) as Row];
      const left = ['place', ...(keys[table] ?? [])];
      const content = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => !left.includes(name)));
      const undone = [await scene.vandal.set(table, a, content(b)), await scene.vandal.set(table, b, content(a))];
      await expectFoundAndUndone(`${table}: first and last changed places`, async () => {
        for (const undo of undone) await undo?.();
      });
    }
    expect(await faultsIn(scene)).toEqual([]);
  });
});

describe('tampering at random', () => {
  it(
    `MWP-EVT-005, MWP-ADM-008: of ${FLIPS} bytes flipped anywhere, each is found (seed ${seed})`,
    { timeout: RANDOM_TIMEOUT },
    async () => {
      const [sqlite] = STORES as [(typeof STORES)[number]];
      const scene = await sceneOf(await sqlite.open(), playSmallOrganization);
      const random = seededRandom(seed);
      const columns = await scene.vandal.columns(VERIFIED);
      const rows = new Map<string, Row[]>();
      for (const table of VERIFIED) rows.set(table, await scene.vandal.rows(table));
      for (let done = 0; done < FLIPS;) {
        const column = columns[random(columns.length)] as Column;
        const of = rows.get(column.table) as Row[];
        const row = of[random(of.length)] as Row;
        const changed = flipped(row[column.name], column, random);
        const undo = await scene.vandal.set(column.table, row, { [column.name]: changed });
        if (!undo) continue;
        const faults = await faultsIn(scene);
        await undo();
        expectFound(`${column.table}.${column.name}: ${String(row[column.name])} → ${String(changed)}`, faults);
        done += 1;
      }
      expect(await faultsIn(scene)).toEqual([]);
      await scene.vandal.close();
      await scene.opened.close();
    },
  );
});
