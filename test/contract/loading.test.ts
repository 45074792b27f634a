// What a Command's reads are answered with: against a list in memory, over random aggregates and every shape of a read.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexOf } from '../../src/domain/aggregate-index.ts';
import type { ListRead, LoadedAggregate, Read, RecentRead } from '../../src/domain/reads.ts';
import { LIST_READ_MAXIMUM, list, one, RECENT_MARGIN } from '../../src/domain/reads.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { timestampFromMillis } from '../../src/protocol/timestamps.ts';
import type { PageRequest } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { lookBehind } from './behind.ts';
import { AGENT, append, newGroupId, newTenant, planFor } from './samples.ts';

const STATES = ['queued', 'active', 'failed'];
const HOLDERS = ['urn:agent:a', 'urn:agent:b'];
const PARENTS = ['urn:item:1', 'urn:item:2'];
const GROUPS = [newGroupId(), newGroupId()];
/** Ids that a locale would put in another order than their bytes. */
const IDS = [
  'urn:a',
  'urn:B',
  'urn:b',
  'urn:A',
  'urn:-',
  'urn:_',
  'urn:a~',
  'urn:%',
  'urn:é',
  'urn:z',
  'urn:Z',
  'urn:0',
];

const aggregates = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(...IDS),
    group: fc.constantFrom(...GROUPS),
    state: fc.constantFrom(...STATES),
    holder: fc.option(fc.constantFrom(...HOLDERS), { nil: undefined }),
    parent: fc.option(fc.constantFrom(...PARENTS), { nil: undefined }),
  }),
  { selector: ({ id }) => id, maxLength: IDS.length },
);
const where = fc.record(
  {
    groupId: fc.constantFrom(...GROUPS),
    states: fc.subarray([...STATES, 'unknown'], { minLength: 0 }),
    holder: fc.constantFrom(...HOLDERS),
    parent: fc.constantFrom(...PARENTS),
  },
  { requiredKeys: [] },
);

describe.each(STORES)('loading on $name', ({ open }) => {
  let opened: OpenedStore;
  let millis = Date.parse('2026-05-01T00:00:00Z');
  beforeAll(async () => {
    opened = await open({ clock: () => millis });
  });
  afterAll(() => opened.close());

  it('every shape of list and page answers what a list in memory answers, in byte order', async () => {
    await fc.assert(
      fc.asyncProperty(aggregates, fc.array(where, { maxLength: 12 }), async (drafts, wheres) => {
        const org = await newTenant(opened.store);
        const stored = await store(org, drafts);
        await opened.store.read(org, async (reader) => {
          for (const filter of wheres) {
            const expected = stored.filter((aggregate) => matches(aggregate, filter));
            expect(await reader.page({ kind: 'work_item', limit: 100, ...filter })).toEqual(expected);
            const middle: PageRequest = { kind: 'work_item', limit: 2, afterId: 'urn:Z', ...filter };
            const after = expected.filter(({ id }) => compareBytes(id, 'urn:Z') > 0);
            expect(await reader.page(middle)).toEqual(after.slice(0, 2));
            if (filter.groupId ?? filter.holder ?? filter.parent) {
              const { aggregates: listed } = await reader.load([list('work_item', filter)]);
              expect(byId(listed)).toEqual(expected);
            }
          }
          const ones = IDS.map((id) => one('work_item', id));
          expect(byId((await reader.load(ones)).aggregates)).toEqual(stored);
        });
      }),
      { numRuns: 25, verbose: 1 }, // fast-check prints seed and path of a failure
    );
  });

  /** All through one acceptance per Group, in byte order of their ids. */
  async function store(org: OrganizationId, drafts: Draft[]): Promise<LoadedAggregate[]> {
    for (const groupId of GROUPS) {
      const own = drafts.filter(({ group }) => group === groupId);
      const changes = own.map(({ id, ...draft }) => ({ kind: 'work_item' as const, id, document: documentOf(draft) }));
      await append(opened.store, org, groupId, { aggregates: changes });
    }
    const stored = drafts.map(({ id, group, ...draft }) => ({
      kind: 'work_item' as const,
      id,
      groupId: group,
      version: 1,
      document: documentOf(draft),
    }));
    return byId(stored as unknown as LoadedAggregate[]);
  }

  it('the reads of an acceptance, of a decision and of a snapshot answer alike, and recents in their order', async () => {
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    const start = millis;
    for (const eventKind of ['message.committed', 'work.proposed', 'message.committed', 'message.committed']) {
      await append(opened.store, org, groupId, { eventKind, events: 1 });
      millis += 10_000;
    }
    const recent = (eventKind: string, seconds: number, actor = AGENT): RecentRead => ({
      read: 'recent',
      groupId,
      eventKind,
      actor,
      seconds,
      limit: 'messagesPerMinute',
    });
    const reads: Read[] = [
      recent('work.proposed', 60),
      recent('message.committed', 60),
      recent('message.committed', 20.001),
      recent('message.committed', 20),
      recent('message.committed', 10),
      recent('message.committed', 60, { type: 'human', id: AGENT.id }),
      { ...recent('message.committed', 60), groupId: newGroupId() },
    ];
    const expected = [
      { count: 1, oldest: timestampFromMillis(start + 10_000) },
      { count: 3, oldest: timestampFromMillis(start) },
      { count: 2, oldest: timestampFromMillis(start + 20_000) },
      { count: 1, oldest: timestampFromMillis(start + 30_000) },
      { count: 0 },
      { count: 0 },
      { count: 0 },
    ];
    await opened.store.read(org, async (reader) => expect((await reader.load(reads)).recents).toEqual(expected));
    await opened.store.acceptTransition(org, planFor([groupId], { reads }), async ({ loaded }, acceptance) => {
      expect(loaded.recents).toEqual(expected);
      expect((await acceptance.load(reads)).recents).toEqual(expected);
      return { result: undefined };
    });
  });

  it.each([
    ['low', 2],
    ['so high that all Events of the Group are looked at first', RECENT_MARGIN + 2],
  ])(
    'recents are counted up to a limit that is %s, and the oldest counted is the one that makes room',
    async (_, limit) => {
      const org = await newTenant(opened.store);
      const policy = await opened.store.organizations.policy(org);
      const limits = { ...policy.limits, messagesPerMinute: limit };
      await opened.store.organizations.changeRegistry(org, {
        policy: { ...policy, limits, version: policy.version + 1 },
      });
      const groupId = newGroupId();
      const start = millis;
      for (let events = 0; events < 4; events += 1) {
        await append(opened.store, org, groupId, { eventKind: 'message.committed', events: 1 });
        millis += 10_000;
      }
      const read = { read: 'recent', groupId, eventKind: 'message.committed', actor: AGENT } as const;
      const within = async (seconds: number) => {
        const reads: Read[] = [{ ...read, seconds, limit: 'messagesPerMinute' }];
        return opened.store.read(org, async (reader) => (await reader.load(reads)).recents);
      };
      const third = timestampFromMillis(start + 20_000);
      const all = limit === 2 ? { count: 2, oldest: third } : { count: 4, oldest: timestampFromMillis(start) };
      expect(await within(60)).toEqual([all]);
      // Two are within the time, which is as many as may be looked past.
      expect(await within(25)).toEqual([{ count: 2, oldest: third }]);
      const one = { count: 1, oldest: timestampFromMillis(start + 30_000) };
      expect(await within(15)).toEqual([limit === 2 ? one : { count: 0 }]);
      expect(await within(5)).toEqual([{ count: 0 }]);
    },
  );

  it('a list beyond the maximum is a fault and not a part of the list; a page is cut', async () => {
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    await append(opened.store, org, groupId);
    const behind = lookBehind(opened);
    const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIST_READ_MAXIMUM + 1})`;
    await behind.query(`${numbers} INSERT INTO {aggregates} (organization_id, kind, id, group_id, version, document, hash)
      SELECT '${org}', 'message', 'urn:' || i, '${groupId}', 1, '{}', 'h' FROM n`);
    await behind.close();
    await opened.store.read(org, async (reader) => {
      await expect(reader.load([list('message', { groupId })])).rejects.toMatchObject({ kind: 'corrupt' });
    });
    await opened.store.read(org, async (reader) => {
      expect(await reader.page({ kind: 'message', groupId, limit: 3 })).toHaveLength(3);
      expect(await reader.aggregateHashes(groupId)).toHaveLength(LIST_READ_MAXIMUM + 1);
    });
  });

  it('Artifacts of one content may be more than a list holds: some of them are enough, and those of a Group are found', async () => {
    const org = await newTenant(opened.store);
    const groups = [newGroupId(), newGroupId()] as const;
    for (const groupId of groups) await append(opened.store, org, groupId);
    const behind = lookBehind(opened);
    const columns = 'organization_id, kind, id, group_id, version, document, hash, holder';
    const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIST_READ_MAXIMUM + 1})`;
    await behind.query(`${numbers} INSERT INTO {aggregates} (${columns})
      SELECT '${org}', 'artifact', 'urn:a:' || i, '${groups[0]}', 1, '{}', 'h', 'sha256:same' FROM n`);
    await behind.query(`INSERT INTO {aggregates} (${columns})
      VALUES ('${org}', 'artifact', 'urn:z', '${groups[1]}', 1, '{}', 'h', 'sha256:same')`);
    await behind.close();
    await opened.store.read(org, async (reader) => {
      const count = async (where: object) => (await reader.load([list('artifact', where)])).aggregates.length;
      expect(await count({ holder: 'sha256:same' })).toBe(LIST_READ_MAXIMUM);
      expect(await count({ holder: 'sha256:same', groupId: groups[1] })).toBe(1);
    });
  });

  it('a list that names no Group, holder or parent is a broken invariant on both engines', async () => {
    const org = await newTenant(opened.store);
    await opened.store.read(org, async (reader) => {
      await expect(reader.load([list('mission', { states: ['active'] })])).rejects.toThrow(/names no Group/);
    });
  });

  it('one snapshot: what is accepted while somebody reads does not show in that reading', async () => {
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    await append(opened.store, org, groupId);
    await opened.store.read(org, async (reader) => {
      expect((await reader.stream(groupId))?.position).toBe(1);
      await append(opened.store, org, groupId);
      expect((await reader.stream(groupId))?.position).toBe(1);
      expect(await reader.events(groupId, 0, 10)).toHaveLength(1);
    });
    await opened.store.read(org, async (reader) => expect((await reader.stream(groupId))?.position).toBe(2));
  });

  it('reading does not wait for an acceptance that holds its locks', async () => {
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    await opened.store.acceptTransition(org, planFor([groupId]), async () => {
      const seen = await opened.store.read(org, (reader) => reader.stream(groupId));
      return { result: expect(seen).toBeUndefined() };
    });
  });
});

interface Draft {
  id: string;
  group: string;
  state: string;
  holder: string | undefined;
  parent: string | undefined;
}

function documentOf({ state, holder, parent }: Omit<Draft, 'id' | 'group'>): Record<string, unknown> {
  return {
    workItem: { state, ...(holder && { owner: { agentId: holder } }) },
    details: parent === undefined ? {} : { parentWorkItemId: parent },
  };
}

function matches({ kind, groupId, document }: LoadedAggregate, filter: Omit<ListRead, 'read' | 'kind'>): boolean {
  const index = indexOf(kind, document as never);
  if (filter.groupId !== undefined && groupId !== filter.groupId) return false;
  if (filter.states !== undefined && !filter.states.includes(index.state ?? '')) return false;
  if (filter.holder !== undefined && index.holder !== filter.holder) return false;
  return filter.parent === undefined || index.parent === filter.parent;
}

function byId(loaded: LoadedAggregate[]): LoadedAggregate[] {
  return loaded.toSorted((a, b) => compareBytes(a.id, b.id));
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
