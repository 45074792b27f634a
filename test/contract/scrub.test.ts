// What a PostgreSQL server keeps of deleted bytes, looked for in its files: in tables, statistics and the log.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { scrubPostgres } from '../../src/store/postgres/scrub.ts';
import { hashOf } from './blob-streams.ts';
import { markSample, renditionSample } from './portrait.ts';
import { admissionRow, hash, newGroupId, newTenant, planFor, transitionOf, uuid } from './samples.ts';

/** Nothing in it repeats, so no compression hides it. */
const SECRET = 'Quirinus-7f3a-Zwölf-9c1e';
const KEPT = 'Philemon-2b8d-Sieben-4f6a';

describe('mwp scrub', () => {
  let server: EmbeddedPostgres;
  /** Of the owner. */
  let url: string;
  let sql: postgres.Sql;
  let store: AuthorityStore;
  let org: OrganizationId;
  beforeAll(async () => {
    server = await startEmbeddedPostgres();
    // As the page for operators says: no superuser, but who owns database and tables, with these rights.
    const first = postgres(server.url, { max: 1, fetch_types: false, onnotice: () => undefined });
    await first.unsafe(`CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'owner'`);
    await first.unsafe('CREATE DATABASE mwp TEMPLATE template0 OWNER owner');
    await first.end();
    url = address('owner', 'owner');
    sql = postgres(address(), { max: 1, fetch_types: false, onnotice: () => undefined });
    await sql.unsafe(`GRANT pg_monitor, pg_checkpoint TO owner;
      GRANT EXECUTE ON FUNCTION pg_switch_wal() TO owner`);
    store = await openPostgresStore({ url, migrate: true });
    org = await newTenant(store);
  }, 60_000);
  afterAll(async () => {
    await store.close();
    await sql.end({ timeout: 5 });
    await server.stop();
  });

  /** Of the database; of a superuser where nobody is named. */
  function address(username?: string, password?: string): string {
    const named = new URL(server.url);
    Object.assign(named, { pathname: '/mwp', ...(username !== undefined && { username, password }) });
    return named.href;
  }
  const scrub = (patience?: number) => scrubPostgres(url, () => undefined, patience);
  const inState = async (state: 'removed' | 'scrubbed') =>
    (await store.erasures.inState(org, state, '', 100)).map(({ orderedBy }) => orderedBy);

  /** Says the words everywhere that words may be, and takes them out again. */
  async function erased(words: string): Promise<string> {
    const groupId = newGroupId();
    const write = (change: (transition: ReturnType<typeof transitionOf>) => void) => {
      const plan = planFor([groupId], { alone: true });
      return store.acceptTransition(org, plan, async ({ now, heads }) => {
        const transition = transitionOf({ groupId, plan, now, head: heads.get(groupId) });
        change(transition);
        return { write: transition, result: transition };
      });
    };
    const { events, command } = await write((transition) => {
      const [event] = transition.events;
      Object.assign(event ?? {}, { body: JSON.stringify({ words }) });
      Object.assign(transition.command, { body: JSON.stringify({ words, command: true }) });
      // Two, or nothing is common enough for a sample.
      for (const path of ['a', 'b'])
        transition.texts.push({
          commitment: hash([path, words]),
          eventId: event?.eventId ?? '',
          groupId,
          value: `"${words}"`,
        });
    });
    const blob = Buffer.from(`a segment of ${words}`);
    await store.blobs('segments').put(org, once(blob));
    await sql.unsafe('ANALYZE; CHECKPOINT');
    const { position, eventId } = events[0]!;
    const orderedBy = uuid();
    const mark = markSample({ groupId, position, eventId, cause: 'erased', reasonCode: 'legal_request', orderedBy });
    await write(({ withheld }) => withheld.push(mark));
    const rendition = renditionSample({ groupId, position, eventId, cause: 'erased', signingHash: hash(uuid()) });
    const { signingHash, signedAt } = rendition;
    const admission = admissionRow(signingHash, `renditions ${groupId}`, position, signedAt);
    await store.recordRenditions(org, [{ rendition, admission }]);
    const taken = {
      eventIds: [eventId],
      events: [position],
      commands: [command.signingHash],
      documents: [],
      segments: [],
    };
    expect(await store.erasures.take(org, orderedBy, taken)).toBe(true);
    await store.blobs('segments').remove(org, hashOf(blob));
    await store.erasures.removed(org, orderedBy);
    return orderedBy;
  }

  /** Kinds of files of the whole server that hold these words. */
  async function filesWith(words: string): Promise<string[]> {
    await sql.unsafe('CHECKPOINT');
    const [row] = await sql<{ folder: string }[]>`SELECT current_setting('data_directory') AS folder`;
    const found = new Set<string>();
    for (const entry of readdirSync(row?.folder ?? '', { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      // The server goes on meanwhile.
      if (contentOf(path).includes(words)) found.add(path.includes('pg_wal') ? 'log' : 'table');
    }
    return [...found].sort();
  }

  it('MWP-MSN-023: takes erased words out of tables, statistics and the log, and no others', async () => {
    const plan = planFor([newGroupId()]);
    await store.acceptTransition(org, plan, async ({ now }) => {
      const write = transitionOf({ groupId: plan.groups[0]!, plan, now });
      Object.assign(write.events[0] ?? {}, { body: JSON.stringify({ words: KEPT }) });
      return { write, result: undefined };
    });
    // The table of texts is empty afterwards, and samples of an empty table are taken by nobody anew.
    const orderedBy = await erased(SECRET);
    expect(await filesWith(SECRET)).toEqual(['log', 'table']);
    const [statistics] = await sql.unsafe(`SELECT count(*)::int AS count FROM pg_stats WHERE schemaname = 'mwp'
      AND coalesce(most_common_vals::text, '') || coalesce(histogram_bounds::text, '') LIKE '%${SECRET}%'`);
    expect(statistics?.['count']).toBeGreaterThan(0);
    await scrub();
    expect(await filesWith(SECRET)).toEqual([]);
    expect(await filesWith(KEPT)).toContain('table');
    expect(await inState('scrubbed')).toEqual([orderedBy]);
  }, 60_000);

  it('says nothing is scrubbed while a transaction from before may see it, and goes on when that has ended', async () => {
    const words = `${SECRET}-again`;
    const old = postgres(address(), { max: 1, fetch_types: false });
    await old.begin('ISOLATION LEVEL REPEATABLE READ', async (transaction) => {
      await transaction`SELECT 1 FROM pg_class LIMIT 1`;
      const orderedBy = await erased(words);
      await expect(scrub(0)).rejects.toMatchObject({ kind: 'busy' });
      expect(await inState('removed')).toEqual([orderedBy]);
      expect(await filesWith(words)).toContain('table');
    });
    await old.end();
    await scrub();
    expect(await filesWith(words)).toEqual([]);
    expect(await inState('removed')).toEqual([]);
  }, 60_000);

  it('a replication slot that holds the log is waited for, and told', async () => {
    const words = `${SECRET}-held`;
    await sql`SELECT pg_create_physical_replication_slot('held', true)`;
    const orderedBy = await erased(words);
    await expect(scrub(0)).rejects.toThrow(/1 files of the write-ahead log are kept/);
    expect(await inState('removed')).toEqual([orderedBy]);
    await sql`SELECT pg_drop_replication_slot('held')`;
    await scrub();
    expect(await filesWith(words)).toEqual([]);
  }, 60_000);

  it('who may not is told what to grant, and nothing is done', async () => {
    await sql.unsafe(`CREATE ROLE weak LOGIN PASSWORD 'weak'`);
    const refused = scrubPostgres(address('weak', 'weak'), () => undefined);
    await expect(refused).rejects.toThrow(/GRANT pg_monitor, pg_checkpoint TO weak/);
  });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Empty where the server has removed it meanwhile. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
