// Erased words are gone: from rows, segments, blobs without a name, free pages and the log, whoever ends where; and nothing else
// is. The marks are those of a redaction, written with the cause `erased`, so that this tests what the store is left with.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eraseDue, scrubRemoved, type ErasureParts } from '../../src/archive/erasure/erasures.ts';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { sealNext } from '../../src/archive/segments/seal.ts';
import { Upkeep } from '../../src/archive/upkeep/upkeep.ts';
import { replayPage } from '../../src/delivery/replay.ts';
import { deliveringStore, Renditions } from '../../src/delivery/renditions.ts';
import { sightOf } from '../../src/delivery/sight.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { openBlobFiles } from '../../src/store/files/blobs.ts';
import type { BlobStore } from '../../src/store/port/blobs.ts';
import type { ErasureState } from '../../src/store/port/erasures.ts';
import type { AuthorityStore, NamedPoint, PassPoint } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { scrubPostgres } from '../../src/store/postgres/scrub.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { id, Mission } from '../support/mission.ts';
import { MemoryBlobs, snapshotsOf } from '../support/snapshots.ts';
import { sealRegistry } from '../support/sealing.ts';
import { Tenant } from '../support/tenant.ts';
import type { ActorKey } from '../../src/worker/keys.ts';

interface Ground {
  store: AuthorityStore;
  segments: BlobStore;
  /** Bytes of the database and of the blobs as they lie on the disk. */
  stored: () => Promise<Buffer[]>;
  scrub: (tenant: Tenant) => Promise<unknown>;
  analyze: () => Promise<unknown>;
  close: () => Promise<void>;
}

let server: EmbeddedPostgres | undefined;
const folder = mkdtempSync(join(tmpdir(), 'mwp-erasure-'));
chmodSync(folder, 0o755); // as root, the server runs as another user
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Each that is left over is written through by a scrub. */
const FEW_LOG_FILES = { min_wal_size: '32MB', max_wal_size: '64MB' };

const filesUnder = (path: string): Buffer[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));

async function openSqlite(kept: 'files' | 'database'): Promise<Ground> {
  const own = mkdtempSync(join(folder, 'sqlite-'));
  const store = await openSqliteStore({ file: join(own, 'mwp.db'), migrate: true, sealRegistry });
  const segments = kept === 'database' ? store.blobs('segments') : await openBlobFiles(join(own, 'segments'));
  const scrub = (tenant: Tenant) => scrubRemoved({ store }, [tenant.organization], { done: () => undefined });
  return {
    store,
    segments,
    stored: async () => filesUnder(own),
    scrub,
    analyze: async () => undefined,
    close: () => store.close(),
  };
}

async function openPostgres(kept: 'files' | 'database'): Promise<Ground> {
  const own = mkdtempSync(join(folder, 'postgres-'));
  server ??= await startEmbeddedPostgres({ within: folder, settings: FEW_LOG_FILES });
  const { url } = server;
  const data = join(folder, readdirSync(folder).find((name) => name.startsWith('mwp-postgres-')) ?? '', 'data');
  const name = `erasure_${kept}`;
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(`CREATE DATABASE ${name}`);
  const ownUrl = new URL(url);
  ownUrl.pathname = `/${name}`;
  const store = await openPostgresStore({ url: ownUrl.href, migrate: true, maxConnections: 4, sealRegistry });
  const segments = kept === 'database' ? store.blobs('segments') : await openBlobFiles(join(own, 'segments'));
  return {
    store,
    segments,
    stored: async () => {
      await sql.unsafe('CHECKPOINT');
      return [...filesUnder(own), ...filesUnder(join(data, 'base')), ...filesUnder(join(data, 'pg_wal'))];
    },
    scrub: () => scrubPostgres(ownUrl.href, () => undefined),
    analyze: async () => {
      const own = postgres(ownUrl.href, { max: 1 });
      await own.unsafe('ANALYZE');
      await own.end();
    },
    close: async () => {
      await store.close();
      await sql.end();
    },
  };
}

const GROUNDS = [
  { name: 'sqlite', kept: 'files', open: openSqlite },
  { name: 'sqlite', kept: 'database', open: openSqlite },
  { name: 'postgres', kept: 'files', open: openPostgres },
  { name: 'postgres', kept: 'database', open: openPostgres },
] as const;

/** As a Command of erasure has them written. */
function erasing(store: AuthorityStore): AuthorityStore {
  return {
    ...store,
    acceptTransition: (organizationId, plan, decide) =>
      store.acceptTransition(organizationId, plan, async (...given) => {
        const outcome = await decide(...given);
        for (const mark of outcome.write?.withheld ?? [])
          Object.assign(mark, { cause: 'erased', reasonCode: 'legal_request' });
        return outcome;
      }),
  };
}

describe.each(GROUNDS)('erasure on $name, blobs in $kept', ({ name, kept, open }) => {
  let ground: Ground;
  let store: AuthorityStore;
  let tenant: Tenant;
  let mission: Mission;
  let owner: ActorKey;
  let worker: ActorKey;
  let conversationId: string;
  let said = 0;
  /** Where the blobs lie makes no difference to the rest, and each scrub of PostgreSQL takes a second. */
  const isCheap = name === 'sqlite' || kept === 'files';

  beforeAll(async () => {
    ground = await open(kept);
    store = withSealedBodies(ground.store, ground.segments);
    ({ tenant, mission, owner, worker, conversationId } = await played());
  });
  afterAll(() => ground.close());

  async function played() {
    const tenant = await Tenant.create(erasing(store));
    const owner = await tenant.human('olga');
    const worker = await tenant.agent('worker');
    const mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    await mission.join(worker);
    const { organizationId } = tenant.organization;
    const { aggregates } = await store.read(organizationId, (reader) =>
      reader.load([{ read: 'one', kind: 'group', id: mission.groupId }]),
    );
    const { mainConversationId } = aggregates[0]?.document as { mainConversationId: string };
    return { tenant, owner, worker, mission, conversationId: mainConversationId };
  }

  const organizationId = () => tenant.organization.organizationId;
  const signers = { signerOf: () => Promise.resolve(tenant.keyOf(tenant.organization.authority).signer) };
  /** Throws the first failure. Ended at a point, it removes nothing more. */
  async function erase(endsAt?: NamedPoint): Promise<string[]> {
    let hasEnded = false;
    const alive = async () => {
      if (hasEnded) throw new Error('the process ended');
    };
    const pass: PassPoint = (point) => {
      hasEnded ||= point === endsAt;
      if (hasEnded) throw new Error('the process ends here');
    };
    const { segments } = ground;
    const blobs: ErasureParts['blobs'] = {
      put: (...given) => segments.put(...given),
      get: (...given) => segments.get(...given),
      remove: (...given) => alive().then(() => segments.remove(...given)),
      hashes: (...given) => alive().then(() => segments.hashes(...given)),
      clearIncoming: (...given) => segments.clearIncoming(...given),
    };
    const renditions = new Renditions({ store, signers });
    const states: string[] = [];
    const failures: unknown[] = [];
    await eraseDue({ store: ground.store, blobs, renditions, pass }, tenant.organization, {
      done: ({ state }) => states.push(state),
      failed: (error) => failures.push(error),
    });
    if (failures.length > 0) throw failures[0];
    return states;
  }
  const howFar = async () => {
    const states: ErasureState[] = ['due', 'taken', 'removed', 'scrubbed'];
    const counts = await Promise.all(
      states.map(async (state) => (await store.erasures.inState(organizationId(), state, '', 100)).length),
    );
    return Object.fromEntries(states.map((state, at) => [state, counts[at]]));
  };
  const snapshot = () =>
    snapshotsOf(tenant, new MemoryBlobs(), store).takeSnapshot(tenant.organization, mission.groupId);
  const seal = async (pass?: PassPoint) => {
    await snapshot();
    const sealing = { store, blobs: ground.segments, ...(pass && { pass }) };
    return sealNext(sealing, organizationId(), mission.groupId, 1_000_000);
  };

  /** Words that nobody said before, in the Message and in what amends it. */
  async function say() {
    said += 1;
    const word = `Quirinus${said}${id().slice(-12)}`;
    const messageId = id();
    await mission.accept(worker, 'message.post', { messageId, conversationId, content: `${word} posted` });
    const amendment = {
      amendmentId: id(),
      messageId,
      reason: `${word} reason`,
      replacementContent: `${word} corrected`,
    };
    await mission.accept(worker, 'message.correct', amendment);
    return { word, messageId };
  }
  const order = (messageId: string) =>
    mission.accept(owner, 'message.redact', { amendmentId: id(), messageId, reason: 'a word to the lawyers' });

  async function holding(...needles: (string | Buffer)[]): Promise<number> {
    const found = await ground.stored();
    const packed = found.filter((bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b);
    const stored = [...found, ...packed.map((bytes) => gunzipSync(bytes))];
    return stored.filter((bytes) => needles.some((needle) => bytes.includes(needle))).length;
  }
  /** Of a segment as it lies: a piece that no other blob has. */
  async function pieceOf(hash: string): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await ground.segments.get(organizationId(), hash))!) chunks.push(chunk);
    return Buffer.concat(chunks).subarray(600, 664);
  }
  const readsAs = async (groupId = mission.groupId) =>
    store.read(organizationId(), async (reader) => {
      const events = await reader.events(groupId, 0, 1_000);
      const commands = await reader.commands(events.map(({ commandHash }) => commandHash));
      return { events: events.filter(({ body }) => body === ''), commands: commands.filter(({ body }) => body === '') };
    });

  async function replayed(): Promise<string> {
    const delivering = deliveringStore(store, { signers });
    return delivering.read(organizationId(), async (reader) => {
      const sight = await sightOf(reader, mission.groupId, worker.principal);
      if (isRefusal(sight)) throw new Error(sight.message);
      const page = await replayPage(
        reader,
        mission.groupId,
        { organization: tenant.organization, sight },
        { after: 0, limit: 1_000 },
      );
      return page.bodies.join('\n');
    });
  }

  it('words in rows and words in a segment are on the disk before and nowhere after; those of another Message stay', async () => {
    const [sealed, kept] = [await say(), await say()];
    const before = (await seal())!;
    const piece = await pieceOf(before.hash);
    const online = await say();
    expect(await holding(online.word)).toBeGreaterThan(0);
    expect(await holding(sealed.word)).toBeGreaterThan(0);
    expect(await holding(piece)).toBeGreaterThan(0);
    // The planner keeps samples of what it has seen, and short texts among them.
    await ground.analyze();
    for (const { messageId } of [sealed, online]) await order(messageId);
    // Nothing is destroyed by the order itself, and from then on nobody gets the words.
    expect((await readsAs()).events).toEqual([]);
    expect(await replayed()).not.toMatch(new RegExp(`${sealed.word}|${online.word}`));
    expect(await erase()).toEqual(['taken', 'taken', 'removed', 'removed']);
    const { events, commands } = await readsAs();
    expect([events.length, commands.length]).toEqual([4, 4]);
    const texts = await store.read(organizationId(), (reader) => reader.rowCounts());
    expect(texts.withheld).toBe(4);
    await ground.scrub(tenant);
    expect(await howFar()).toEqual({ due: 0, taken: 0, removed: 0, scrubbed: 2 });
    expect(await holding(sealed.word, online.word, piece)).toBe(0);
    expect(await replayed()).toContain(kept.word);
    expect((await ground.segments.get(organizationId(), before.hash)) === undefined).toBe(true);
    expect(await erase()).toEqual([]);
  });

  it('GDE-1: who ends at any point leaves it to who looks next, and no word behind', async () => {
    const needles: (string | Buffer)[] = [];
    const points = ['erasure-rendered', 'erasure-stored', 'erasure-taken', 'erasure-removed'] satisfies NamedPoint[];
    for (const [at, point] of points.entries()) {
      const { word, messageId } = await say();
      needles.push(word, await pieceOf((await seal())!.hash));
      await order(messageId);
      await expect(erase(point), point).rejects.toThrow('ends here');
      const [due, taken] = at < 2 ? [1, 0] : [0, 1];
      expect(await howFar(), point).toMatchObject({ due, taken });
      expect(await replayed()).not.toContain(word);
      await erase();
      expect(await howFar()).toMatchObject({ due: 0, taken: 0 });
    }
    expect(await holding(...needles)).toBeGreaterThan(0);
    await ground.scrub(tenant);
    expect(await howFar()).toMatchObject({ removed: 0 });
    expect(await holding(...needles)).toBe(0);
  });

  it('a blob that somebody left while sealing holds the words, is named by nothing, and goes too', async () => {
    const { word, messageId } = await say();
    const named = await ground.segments.hashes(organizationId());
    await expect(
      seal((point) => {
        if (point === 'segment-stored') throw new Error('the process ends here');
      }),
    ).rejects.toThrow('ends here');
    const left = (await ground.segments.hashes(organizationId())).filter((hash) => !named.includes(hash));
    expect(left).toHaveLength(1);
    const piece = await pieceOf(left[0]!);
    await order(messageId);
    await erase();
    expect(await ground.segments.hashes(organizationId())).toEqual(expect.not.arrayContaining(left));
    await ground.scrub(tenant);
    expect(await holding(word, piece)).toBe(0);
  });

  it.runIf(isCheap)(
    'sealing, and two who erase, at the same time: the words go once, and every segment that a row names is there',
    async () => {
      const { word, messageId } = await say();
      await seal();
      const second = await say();
      await snapshot();
      for (const one of [messageId, second.messageId]) await order(one);
      const sealing = { store, blobs: ground.segments };
      const looks = [erase(), erase(), sealNext(sealing, organizationId(), mission.groupId, 1_000_000)];
      // What one takes while the other looks, the next look does.
      await Promise.allSettled(looks);
      await erase();
      await ground.scrub(tenant);
      expect(await holding(word, second.word)).toBe(0);
      const segments = await store.read(organizationId(), (reader) => reader.segmentsFrom(mission.groupId, 1, 1_000));
      for (const { hash } of segments) expect(await ground.segments.size(organizationId(), hash)).toBeGreaterThan(0);
      expect(await readsAs()).toBeDefined();
    },
  );

  it.runIf(isCheap)(
    'a Command whose body is gone answers its receipt when it comes again, and words of another tenant stay',
    async () => {
      const other = await played();
      const kept = `Octavia${id().slice(-12)}`;
      const payload = { messageId: id(), conversationId: other.conversationId, content: `${kept} posted` };
      await other.mission.accept(other.worker, 'message.post', payload);
      const messageId = id();
      const word = `Quirinus${id().slice(-12)}`;
      const draft = mission.draft('message.post', { messageId, conversationId, content: `${word} posted` });
      const bytes = tenant.sign(worker, draft, mission.epochsOf(worker));
      const first = await tenant.submitBytes(bytes, worker.principal);
      await order(messageId);
      await erase();
      const again = await tenant.submitBytes(bytes, worker.principal, tenant.anotherAuthority(store));
      if (!first.accepted || !again.accepted) throw new Error('refused');
      expect(again).toMatchObject({ duplicate: true, receipt: first.receipt });
      expect(JSON.stringify(again)).not.toContain(word);
      await ground.scrub(tenant);
      expect(await holding(kept)).toBeGreaterThan(0);
      expect(await holding(word)).toBe(0);
    },
  );

  it.runIf(isCheap)('a round of the upkeep erases, and scrubs where the service may', async () => {
    const { word, messageId } = await say();
    await order(messageId);
    const states: ErasureState[] = [];
    const failures: unknown[] = [];
    const failed = (error: unknown) => failures.push(error);
    const snapshotBlobs = new MemoryBlobs();
    const upkeep = new Upkeep({
      store,
      segmentBlobs: ground.segments,
      snapshots: snapshotsOf(tenant, snapshotBlobs, store),
      snapshotBlobs,
      erasing: {
        store: ground.store,
        blobs: ground.segments,
        renditions: new Renditions({ store, signers }),
        done: ({ state }) => states.push(state),
        failed,
      },
      looked: () => undefined,
      failed,
    });
    await upkeep.round();
    await upkeep.stop();
    expect(failures).toEqual([]);
    expect(states).toEqual(name === 'sqlite' ? ['taken', 'removed', 'scrubbed'] : ['taken', 'removed']);
    expect(await replayed()).not.toContain(word);
    if (name === 'sqlite') expect(await holding(word)).toBe(0);
  });

  it.runIf(name === 'sqlite')(
    'a long reader keeps the log: nothing counts as scrubbed until it has ended',
    async () => {
      const { word, messageId } = await say();
      await order(messageId);
      await erase();
      await ground.store.read(organizationId(), async (reader) => {
        await reader.streamIds();
        await expect(ground.scrub(tenant)).rejects.toMatchObject({ kind: 'busy' });
      });
      expect(await howFar()).toMatchObject({ removed: 1 });
      await ground.scrub(tenant);
      expect(await howFar()).toMatchObject({ removed: 0 });
      expect(await holding(word)).toBe(0);
    },
  );
});
