// What happens when several acceptances want the same at the same time. On PostgreSQL they come from two store objects,
// as from two processes; on SQLite from one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { list } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { AGENT, admissionRow, append, hash, newGroupId, newTenant, planFor, transitionOf, uuid } from './samples.ts';

describe.each(STORES)('racing on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let stores: AuthorityStore[];
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open({ maxConnections: 6 });
    stores = name === 'postgres' ? [opened.store, await opened.another()] : [opened.store];
    org = await newTenant(opened.store);
  });
  afterAll(() => opened.close());

  /** Runs `work` that many times at once, over all store objects in turn. */
  const race = <Result>(times: number, work: (store: AuthorityStore, turn: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: times }, (_, turn) => work(stores[turn % stores.length] as AuthorityStore, turn)));

  it('MWP-EVT-005c: twenty acceptances on one Group, which none of them saw created, get positions 1 to 20', async () => {
    const groupId = newGroupId();
    const written = await race(20, (store) => append(store, org, groupId));
    const positions = written.map(({ streams }) => streams[0]?.head.position ?? 0).sort((a, b) => a - b);
    expect(positions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    await opened.store.read(org, async (reader) => {
      const events = await reader.events(groupId, 0, 100);
      expect(events.map(({ position }) => position)).toEqual(positions);
      expect(await reader.stream(groupId)).toMatchObject({ position: 20, revision: 20 });
    });
  });

  it('MWP-FND-013d: many Groups at once each get their own numbers', async () => {
    const groups = Array.from({ length: 5 }, newGroupId);
    await race(30, (store, turn) => append(store, org, groups[turn % 5] as GroupId));
    await opened.store.read(org, async (reader) => {
      for (const groupId of groups) {
        expect((await reader.events(groupId, 0, 100)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6]);
      }
    });
  });

  it('two Groups locked together in whatever order the plan names them never wait for each other', async () => {
    const groups = [newGroupId(), newGroupId()];
    for (const groupId of groups) await append(opened.store, org, groupId);
    await race(16, (store, turn) => {
      const plan = planFor(turn % 2 === 0 ? groups : groups.toReversed());
      return store.acceptTransition(org, plan, async ({ heads, now }) => {
        const write = transitionOf({ groupId: groups[0] as GroupId, head: heads.get(groups[0] as GroupId), plan, now });
        const other = transitionOf({ groupId: groups[1] as GroupId, head: heads.get(groups[1] as GroupId), plan, now });
        write.streams.push(...other.streams);
        write.events.push(...other.events);
        return { write, result: undefined };
      });
    });
    await opened.store.read(org, async (reader) => {
      expect((await reader.stream(groups[0] as GroupId))?.position).toBe(17);
      expect((await reader.stream(groups[1] as GroupId))?.position).toBe(17);
    });
  });

  it('MWP-EVT-003a: one Command sent twenty times at once is accepted once, and all get its receipt', async () => {
    const groupId = newGroupId();
    const plan = planFor([groupId]);
    const receipts = await race(20, (store) =>
      store.acceptTransition(org, plan, async ({ receipt, heads, now }) => {
        if (receipt) return { result: receipt };
        const write = transitionOf({ groupId, head: heads.get(groupId), plan, now });
        return { write, result: write.receipt };
      }),
    );
    expect(new Set(receipts.map(({ primaryEventId }) => primaryEventId)).size).toBe(1);
    await opened.store.read(org, async (reader) => expect((await reader.stream(groupId))?.position).toBe(1));
  });

  it('MWP-EVT-003b: one Action ID with other content in twenty Groups at once is accepted in one of them', async () => {
    const key = { actor: AGENT, actionId: uuid() };
    const answers = await race(20, (store, turn) => {
      const groupId = newGroupId();
      const plan = planFor([groupId], { receipt: key });
      return store.acceptTransition(org, plan, async ({ receipt, now }) => {
        if (receipt) return { result: 'collision' };
        return { write: transitionOf({ groupId, plan, now, signingHash: hash([key, turn]) }), result: 'accepted' };
      });
    });
    expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'collision')).toHaveLength(19);
  });

  it('MWP-ADM-003a: a hundred acceptances that append one admission record at once leave one, returned to all', async () => {
    const shared = hash(uuid());
    const ids = await race(100, (store) => {
      const groupId = newGroupId();
      const plan = planFor([groupId], { signingHashes: [shared] });
      return store.acceptTransition(org, plan, async ({ admissions, now }) => {
        const known = admissions.find(({ signingHash }) => signingHash === shared);
        const record = known ?? admissionRow(shared, groupId, 1, now);
        const write = transitionOf({ groupId, plan, now, admissions: known ? [] : [record] });
        return { write, result: record.admissionRecordId };
      });
    });
    expect(new Set(ids).size).toBe(1);
    await opened.store.read(org, async (reader) => {
      expect((await reader.admission(shared))?.admissionRecordId).toBe(ids[0]);
    });
  });

  it('MWP-EXT-006a: an exclusive actor lock keeps starts in several Groups below a counted limit', async () => {
    const limit = 2;
    const holder = 'urn:agent:busy';
    const active = list('work_item', { holder, states: ['active'] });
    const started = await race(8, (store) => {
      const groupId = newGroupId();
      const actor = { principal: { type: 'agent' as const, id: holder }, mode: 'exclusive' as const };
      const plan = planFor([groupId], { actor, reads: [active] });
      return store.acceptTransition(org, plan, async ({ loaded, now }) => {
        if (loaded.aggregates.length >= limit) return { result: false };
        const document = { workItem: { state: 'active', owner: { agentId: holder } }, details: {} };
        const aggregates = [{ kind: 'work_item' as const, id: uuid(), document }];
        return { write: transitionOf({ groupId, plan, now, aggregates }), result: true };
      });
    });
    expect(started.filter(Boolean)).toHaveLength(limit);
  });

  it('a decision that waited for its Group decides on the rows that the one before it wrote', async () => {
    const groupId = newGroupId();
    const id = uuid();
    const reads = [list('session', { groupId })];
    await append(opened.store, org, groupId);
    const seen = await race(10, (store) => {
      const plan = planFor([groupId], { reads });
      return store.acceptTransition(org, plan, async ({ loaded, heads, now }) => {
        const version = loaded.aggregates[0]?.version ?? 0;
        const aggregates = [
          { kind: 'session' as const, id, version, document: { agentId: 'a', sessionEpoch: version } },
        ];
        const write = transitionOf({ groupId, head: heads.get(groupId), plan, now, aggregates });
        return { write, result: { version, now, before: heads.get(groupId)?.lastEventAt ?? '' } };
      });
    });
    expect(seen.map(({ version }) => version).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const { now, before } of seen) expect(now >= before).toBe(true);
  });
});
