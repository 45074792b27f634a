// Design section 6: with a second tenant beside it, under the same ids and keys and with a flood of bad Commands, no byte
// that the first one is answered differs, and no row that is stored of it.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../../src/authority/authority.ts';
import { executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import { createApp } from '../../src/http/app.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { VaultSigners } from '../../src/platform/tenant-signers.ts';
import { lookBehind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { temporaryBlobs } from '../support/temporary-blobs.ts';
import { withSeed } from '../support/seeded-randomness.ts';
import { floodUntil } from './second-tenant/flood.ts';
import { OPERATOR_TOKEN, RecordedTenant, type Exchange, type Stage } from './second-tenant/recorded-tenant.ts';
import { playEverything } from './second-tenant/script.ts';

vi.mock('node:crypto', async (original) => {
  const { seededCrypto } = await import('../support/seeded-randomness.ts');
  return seededCrypto(await original());
});

const SEED = process.env['SECOND_TENANT_SEED'] ?? randomBytes(4).toString('hex');
const BEGIN = Date.parse('2026-11-29T12:00:00.000Z');
/** Milliseconds that each request of the first tenant takes. */
const STEP = 100;

interface Seen {
  exchanges: Exchange[];
  rows: Record<string, string[]>;
}

describe.each(STORES)('$name: a second tenant', ({ open }) => {
  let opened: OpenedStore;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function stage(): Stage {
    const { store } = opened;
    const vault = new KeyVault(Buffer.alloc(32, 7));
    const signers = new VaultSigners(store.organizations, vault);
    const app = createApp({
      store,
      blobs: temporaryBlobs(),
      snapshotBlobs: temporaryBlobs(),
      auditBlobs: temporaryBlobs(),
      contentBytesMaximum: 1_000,
      authority: createAuthority({ store, signers }),
      signers,
      vault,
      logger: createLogger('silent'),
      operatorToken: OPERATOR_TOKEN,
    });
    return { app, store, vault, clock: () => Date.now() };
  }

  /** The first tenant's whole life; `beside` goes on as long as it does. */
  async function live(beside: (stage: Stage, ended: () => boolean) => Promise<void>): Promise<Seen> {
    vi.setSystemTime(BEGIN);
    opened = await open({ clock: () => Date.now() });
    try {
      const shared = stage();
      let ended = false;
      let steps = 0;
      const first = withSeed(SEED, async () => {
        const tick = () => void vi.setSystemTime(BEGIN + STEP * (steps += 1));
        const recorded = await RecordedTenant.create(shared, 'first', tick);
        await playEverything(recorded);
        return recorded;
      }).finally(() => (ended = true));
      const [recorded] = await Promise.all([first, beside(shared, () => ended)]);
      return { exchanges: recorded.exchanges, rows: await rowsOf(recorded.tenant.organization.organizationId) };
    } finally {
      await opened.close();
    }
  }

  async function rowsOf(organizationId: string): Promise<Record<string, string[]>> {
    const behind = lookBehind(opened);
    const rows: Record<string, string[]> = {};
    for (const table of await behind.tables()) {
      const found = await behind.query(`SELECT * FROM {${table}} WHERE organization_id = '${organizationId}'`);
      rows[table] = found.map((row) => JSON.stringify(row)).sort();
    }
    await behind.close();
    return rows;
  }

  it(`changes no byte of any answer to the first, and no row of it (seed ${SEED})`, { timeout: 300_000 }, async () => {
    const alone = await live(() => Promise.resolve());
    const kinds = new Set(alone.rows['commands']?.map((row) => (JSON.parse(row) as { kind: string }).kind));
    expect([...kinds].sort()).toEqual(executedCommandKinds().sort());

    let twins = 0;
    let floods = 0;
    const accompanied = await live(async (shared, ended) => {
      // The same seed: the same ids of everything, the same keys, the same words.
      await withSeed(SEED, async () => {
        const twin = await RecordedTenant.create(shared, 'second');
        const flooding = withSeed('flood', () => floodUntil(twin, ended));
        await playEverything(twin);
        twins = twin.exchanges.length;
        floods = await flooding;
      });
    });
    expect(twins).toBeGreaterThan(100);
    expect(floods).toBeGreaterThan(100);
    expect(accompanied.exchanges).toEqual(alone.exchanges);
    expect(accompanied.rows).toEqual(alone.rows);
    expect(Object.keys(alone.rows).length).toBeGreaterThan(10);
  });
});
