// No read scans a table, however long the tables get.
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import type { ListRead, RecentRead } from '../../src/domain/reads.ts';
import { list, one } from '../../src/domain/reads.ts';
import type { GroupId } from '../../src/protocol/ids.ts';
import { TENANT_STATEMENTS } from '../../src/store/sqlite/statements.ts';
import { STORES } from '../support/databases.ts';
import { lookBehind } from './behind.ts';
import { pieces, whole } from './blob-streams.ts';
import { portraitOf } from './portrait.ts';
import { AGENT, append, hash, newGroupId, newTenant, planFor } from './samples.ts';

const [sqlite, postgres] = STORES as [(typeof STORES)[number], (typeof STORES)[number]];
const ROWS = 20_000;

describe('indexes', () => {
  it('SQLite finds an index for every statement', async () => {
    const opened = await sqlite.open();
    const database = new Database(opened.address);
    for (const { name, text } of TENANT_STATEMENTS) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all([]) as { detail: string }[];
      const scans = plan.filter(({ detail }) => /^SCAN (?!json_each|CONSTANT|numbered|\(subquery)/.test(detail));
      expect([name, ...scans.map(({ detail }) => detail)]).toEqual([name]);
    }
    database.close();
    await opened.close();
  });

  it('SQLite goes by all of a key, and takes the index that was meant for each shape of a list', async () => {
    const opened = await sqlite.open();
    const database = new Database(opened.address);
    for (const { name, text } of TENANT_STATEMENTS) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all([]) as { detail: string }[];
      const search = plan.map(({ detail }) => detail).find((detail) => /^SEARCH (?!json_each)/.test(detail));
      if (search === undefined) continue;
      if (name.startsWith('aggregates by '))
        expect([name, search]).toEqual([name, expect.stringContaining(indexFor(name))]);
      else if (!WHOLE_TENANT.includes(name) && !name.startsWith('count of '))
        expect([name, search]).toEqual([name, expect.stringMatching(/=\? AND /)]);
    }
    database.close();
    await opened.close();
  });

  it('PostgreSQL reads long tables by index only', async () => {
    const opened = await postgres.open();
    const behind = lookBehind(opened);
    const org = await newTenant(opened.store);
    const groupId = 'urn:group:same' as GroupId;
    await append(opened.store, org, groupId);
    await behind.query(`INSERT INTO {aggregates}
      SELECT '${org}', (ARRAY['work_item', 'lease', 'message'])[1 + i % 3], 'urn:' || i, 'urn:group:' || i % 100, 1, '{}',
             'h', (ARRAY['queued', 'active'])[1 + i % 2], 'urn:agent:' || i % 500, 'urn:item:' || i % 500
      FROM generate_series(1, ${ROWS}) AS i`);
    await behind.query(`INSERT INTO {events} (organization_id, stream_id, position, event_id, kind, group_id, actor_type,
        actor_id, occurred_at, command_hash, signing_hash, key_id, chain_hash, admission_record_id, trusted_accepted_at,
        revision, body)
      SELECT '${org}', '${groupId}', i + 1, 'urn:event:' || i, 'message.committed', '${groupId}', 'agent',
             'urn:agent:' || i % 10, '2026-01-01T00:00:00.000Z', 'c', 's', 'k', 'ch', 'r' || i, 't', i, '{}'
      FROM generate_series(1, ${ROWS}) AS i`);
    await behind.query('ANALYZE');
    const scans = async () => {
      // Sessions tell what they did when they end; ours when asked to.
      await behind.query('SELECT pg_stat_force_next_flush()');
      await behind.query('SELECT pg_stat_clear_snapshot()');
      const rows = await behind.query(`SELECT relname, seq_scan FROM pg_stat_user_tables
        WHERE schemaname = 'mwp' AND relname IN ('aggregates', 'events') ORDER BY relname`);
      return rows.map((row) => [row['relname'], Number(row['seq_scan'])]);
    };
    const before = await scans();
    await opened.store.close();
    const store = await opened.another();
    await portraitOf(store, org);
    const shapes = Array.from({ length: 15 }, (_, bits) => ({
      ...((bits + 1) & 1 && { groupId: 'urn:group:7' }),
      ...((bits + 1) & 2 && { states: ['queued', 'active'] }),
      ...((bits + 1) & 4 && { holder: 'urn:agent:7' }),
      ...((bits + 1) & 8 && { parent: 'urn:item:7' }),
    }));
    // Often enough for PostgreSQL to settle for a plan that does not know the values.
    for (let time = 0; time < 8; time += 1) {
      await store.read(org, async (reader) => {
        for (const shape of shapes) await reader.page({ kind: 'work_item', limit: 10, ...shape });
        const lists = shapes.filter((shape) => 'groupId' in shape || 'holder' in shape || 'parent' in shape);
        await reader.load([one('lease', 'urn:1'), ...lists.map((shape) => list('work_item', shape))]);
        await reader.load([recentOf(groupId)]);
        await reader.event('urn:event:77');
        await reader.eventsById(['urn:event:7', 'urn:event:8']);
        await reader.events(groupId, 100, 10);
        await reader.aggregateHashes('urn:group:7');
      });
      await store.acceptTransition(org, planOf(groupId, shapes), async () => ({ result: undefined }));
    }
    await store.close();
    await behind.untilSessions(1);
    expect(await scans()).toEqual(before);
    await behind.close();
    await opened.close();
  });

  it.each([
    ['never looked at', []],
    ['found empty', ['VACUUM (ANALYZE)']],
  ])('PostgreSQL finds the right index from the first row on, in tables that autovacuum has %s', async (_, before) => {
    const times = 40;
    const opened = await postgres.open({ maxConnections: 1 });
    const behind = lookBehind(opened);
    for (const text of before) await behind.query(text);
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    for (let time = 0; time < times; time += 1) {
      await append(opened.store, org, groupId, {
        plan: planFor([groupId], {
          tree: { groupId, mode: 'shared' },
          signingHashes: [hash(time), hash([time])],
          reads: [
            one('session', 'urn:s'),
            one('session', `urn:s:${time}`),
            list('lease', { parent: 'p', states: ['active'] }),
            list('lease', { holder: 'h', states: ['active'] }),
            list('work_item', { groupId, states: ['active'] }),
            list('membership', { groupId }),
          ],
        }),
        aggregates: [{ kind: 'session', id: `urn:s:${time}`, document: { agentId: 'a', sessionEpoch: 1 } }],
      });
    }
    await opened.store.close();
    await behind.untilSessions(1);
    const rows = await behind.query(`SELECT indexrelname AS index, idx_scan AS scans FROM pg_stat_user_indexes
      WHERE schemaname = 'mwp' AND relname IN ('aggregates', 'admissions', 'events') AND idx_scan > 0 ORDER BY 1`);
    expect(rows.map((row) => [row['index'], Number(row['scans']) / times])).toEqual([
      ['admissions_pkey', 2],
      ['aggregates_by_group', 1],
      ['aggregates_by_group_state', 1],
      ['aggregates_by_holder', 1],
      ['aggregates_by_parent', 1],
      ['aggregates_pkey', 2],
      ['events_pkey', 2],
    ]);
    const scanned = await behind.query(`SELECT relname, seq_scan FROM pg_stat_user_tables
      WHERE schemaname = 'mwp' AND relname IN ('streams', 'receipts', 'policies', 'commands') AND seq_scan > 0`);
    expect(scanned).toEqual([]);
    await behind.close();
    await opened.close();
  });

  it('PostgreSQL finds drafts and pieces of blobs by their own keys, however many drafts an Organization has', async () => {
    const times = 20;
    const opened = await postgres.open({ maxConnections: 1 });
    const org = await newTenant(opened.store);
    const blobs = opened.store.blobs('contents');
    for (let time = 0; time < times; time += 1) {
      const { hash } = await blobs.put(org, pieces(Buffer.from(`${time}`)));
      await whole(await blobs.get(org, hash));
    }
    await opened.store.close();
    const behind = lookBehind(opened);
    await behind.untilSessions(1);
    const rows = await behind.query(`SELECT indexrelname AS index, idx_scan AS scans FROM pg_stat_user_indexes
      WHERE schemaname = 'mwp' AND relname IN ('blobs', 'blob_pieces') ORDER BY 1`);
    expect(rows.map((row) => [row['index'], Number(row['scans']) / times])).toEqual([
      ['blob_pieces_pkey', 2],
      ['blobs_address', 3],
      // The foreign key of the piece, the draft before its name, and its name.
      ['blobs_pkey', 3],
      // What is to be cleared.
      ['blobs_unnamed', 1],
    ]);
    await behind.close();
    await opened.close();
  });

  it('PostgreSQL touches no index when only a document changes', async () => {
    const opened = await postgres.open({ maxConnections: 1 });
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    const document = (sessionEpoch: number) => ({ agentId: 'a', sessionEpoch });
    for (let version = 0; version <= 40; version += 1) {
      await append(opened.store, org, groupId, {
        aggregates: [{ kind: 'session', id: 'urn:s', version, document: document(version) }],
      });
    }
    await opened.store.close();
    const behind = lookBehind(opened);
    await behind.untilSessions(1);
    const rows = await behind.query(`SELECT relname, n_tup_upd AS updates, n_tup_hot_upd AS hot FROM pg_stat_user_tables
      WHERE schemaname = 'mwp' AND relname IN ('aggregates', 'streams')`);
    for (const row of rows) expect([row['relname'], Number(row['hot']) / Number(row['updates']) > 0.8]).toContain(true);
    expect(rows).toHaveLength(2);
    await behind.close();
    await opened.close();
  });
});

/** What is meant to read all there is of one Organization, or its one row. */
const WHOLE_TENANT = [
  'current policy',
  'last audit id',
  'latest key of the tenant',
  'make room in the audit',
  'stream ids',
  'registry revision',
  'last entry of the registry log',
  'moment of the latest Event',
  'raise the registry revision',
  'sealed keys',
  'segments at addresses',
  'stored Organization',
  'stored principals',
  'stored key bindings',
  'stored key validity',
  'stored policies',
];

function indexFor(shape: string): string {
  if (shape.includes('parent')) return 'aggregates_by_parent';
  if (shape.includes('holder')) return 'aggregates_by_holder';
  if (shape.includes('group and states')) return 'aggregates_by_group_state';
  return shape.includes('group') ? 'aggregates_by_group ' : 'autoindex';
}

function planOf(groupId: GroupId, shapes: Omit<ListRead, 'read' | 'kind'>[]) {
  const reads = shapes
    .filter((shape) => 'groupId' in shape || 'holder' in shape || 'parent' in shape)
    .map((shape) => list('work_item', shape));
  return {
    organization: 'shared' as const,
    groups: [groupId],
    receipt: { actor: AGENT, actionId: 'urn:action:none' },
    signingHashes: ['h1', 'h2'],
    reads,
  };
}

function recentOf(groupId: string): RecentRead {
  const limit = 'messagesPerMinute';
  return { read: 'recent', groupId, eventKind: 'message.committed', actor: AGENT, seconds: 60, limit };
}
