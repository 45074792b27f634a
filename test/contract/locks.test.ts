// The locks of PostgreSQL, seen from two processes: who waits for whom, what a waiter finds, and what happens when two
// wait for each other. SQLite has one writer and none of this.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import postgres from 'postgres';
import { one } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AcceptancePlan, AuthorityStore, Opened } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Behind } from './behind.ts';
import { lookBehind } from './behind.ts';
import { AGENT, append, newGroupId, newTenant, planFor, transitionOf, uuid } from './samples.ts';

describe.each(STORES.filter(({ name }) => name === 'postgres'))('locks on $name', ({ open }) => {
  let opened: OpenedStore;
  let here: AuthorityStore;
  let there: AuthorityStore;
  let behind: Behind;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    here = opened.store;
    there = await opened.another();
    behind = lookBehind(opened);
    org = await newTenant(here);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  /** An acceptance that holds its locks until told to go on; `write` makes what it writes, if anything. */
  async function hold(plan: AcceptancePlan, write?: (now: Opened) => ReturnType<typeof transitionOf>) {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let done: Promise<unknown> = Promise.resolve();
    await new Promise<void>((inside, failed) => {
      done = here.acceptTransition(org, plan, async (now) => {
        inside();
        await released;
        return { ...(write && { write: write(now) }), result: undefined };
      });
      done.catch(failed);
    });
    return { finish: () => (release(), done) };
  }

  /** Does an acceptance elsewhere wait while this one is held? */
  async function waits(held: AcceptancePlan, other: AcceptancePlan): Promise<boolean> {
    const { finish } = await hold(held);
    const outcome = there.acceptTransition(org, other, async () => ({ result: 'went through' }));
    const first = await Promise.race([outcome, behind.untilWaiting(1).then(() => 'waited')]);
    await finish();
    await outcome;
    return first === 'waited';
  }

  const actor = (mode: 'shared' | 'exclusive') => ({ actor: { principal: AGENT, mode } });

  it('registry and policy: exclusive waits for shared, shared for exclusive, shared never for shared', async () => {
    const exclusive = planFor([], { organization: 'exclusive' });
    expect(await waits(planFor([]), planFor([]))).toBe(false);
    expect(await waits(planFor([]), exclusive)).toBe(true);
    expect(await waits(exclusive, planFor([]))).toBe(true);
  });

  it('actor: exclusive waits for shared and the other way round; another actor does not', async () => {
    expect(await waits(planFor([], actor('shared')), planFor([], actor('shared')))).toBe(false);
    expect(await waits(planFor([], actor('exclusive')), planFor([], actor('shared')))).toBe(true);
    expect(await waits(planFor([], actor('shared')), planFor([], actor('exclusive')))).toBe(true);
    const other = planFor([], { actor: { principal: { type: 'agent', id: 'urn:agent:2' }, mode: 'exclusive' } });
    expect(await waits(planFor([], actor('exclusive')), other)).toBe(false);
  });

  it('mission tree: the store finds the root of a Group by itself', async () => {
    const [root, child, alone] = [newGroupId(), newGroupId(), newGroupId()];
    await append(here, org, root);
    await append(here, org, alone);
    const plan = planFor([child]);
    await here.acceptTransition(org, plan, async ({ now }) => {
      const write = transitionOf({ groupId: child, plan, now });
      write.streams.forEach(({ head }) => (head.rootGroupId = root));
      return { write, result: undefined };
    });
    const tree = (groupId: GroupId, mode: 'shared' | 'exclusive') => planFor([groupId], { tree: { groupId, mode } });
    expect(await waits(tree(root, 'exclusive'), tree(child, 'shared'))).toBe(true);
    expect(await waits(tree(child, 'exclusive'), tree(root, 'shared'))).toBe(true);
    expect(await waits(tree(child, 'shared'), tree(root, 'shared'))).toBe(false);
    expect(await waits(tree(child, 'exclusive'), tree(alone, 'exclusive'))).toBe(false);
  });

  it('the registry changes only between acceptances', async () => {
    const { finish } = await hold(planFor([]));
    const change = there.organizations.changeRegistry(org, {
      principals: [{ principal: { type: 'agent', id: uuid() }, displayName: 'new' }],
    });
    await behind.untilWaiting(1);
    await finish();
    expect(await change).toMatchObject({ outcome: 'done' });
  });

  it('a Group that does not exist is locked by its name: the second creation finds the first', async () => {
    const groupId = newGroupId();
    const plan = planFor([groupId]);
    const { finish } = await hold(plan, ({ now }) => transitionOf({ groupId, plan, now }));
    const second = there.acceptTransition(org, planFor([groupId]), async ({ heads }) => ({
      result: heads.get(groupId)?.position,
    }));
    await behind.untilWaiting(1);
    await finish();
    expect(await second).toBe(1);
  });

  it('who waited decides on what was committed meanwhile, by a clock read after the wait', async () => {
    const groupId = newGroupId();
    const id = uuid();
    await append(here, org, groupId);
    const plan = planFor([groupId]);
    const { finish } = await hold(plan, ({ heads, now }) => {
      const aggregates = [{ kind: 'session' as const, id, document: { agentId: id, sessionEpoch: 1 } }];
      return transitionOf({ groupId, head: heads.get(groupId), plan, now, aggregates });
    });
    const waiting = there.acceptTransition(
      org,
      planFor([groupId], { receipt: plan.receipt, reads: [one('session', id)] }),
      async (result) => ({ result }),
    );
    await behind.untilWaiting(1);
    const whileWaiting = await here.organizations.now();
    await finish();
    const found = await waiting;
    expect(found.loaded.aggregates).toHaveLength(1);
    expect(found.heads.get(groupId)?.position).toBe(2);
    expect(found.receipt?.actionId).toBe(plan.receipt.actionId);
    expect(found.now >= whileWaiting).toBe(true);
  });

  it('a Group that was created in another tree while we waited is locked again, under the right root', async () => {
    const [root, child] = [newGroupId(), newGroupId()];
    const plan = planFor([child]);
    const { finish } = await hold(plan, ({ now }) => {
      const write = transitionOf({ groupId: child, plan, now });
      write.streams.forEach(({ head }) => (head.rootGroupId = root));
      return write;
    });
    const other = planFor([child], { tree: { groupId: child, mode: 'exclusive' } });
    const locked = there.acceptTransition(org, other, async () => {
      const [row] = await behind.query(
        `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND
           (classid::bigint << 32) + objid::bigint = hashtextextended('mwp tree ${org} ${root}', 0)`,
      );
      return { result: Number(row?.['count']) };
    });
    await behind.untilWaiting(1);
    await finish();
    expect(await locked).toBe(1);
  });

  it('a deadlock is retried inside: the decision runs twice, the caller sees one answer', async () => {
    const [a, b] = [newGroupId(), newGroupId()].sort() as [GroupId, GroupId];
    for (const groupId of [a, b]) await append(here, org, groupId);
    const rival = postgres(opened.address, { max: 1, fetch_types: false });
    const lock = (id: string) => rival.unsafe(`SELECT 1 FROM mwp.streams WHERE stream_id = '${id}' FOR UPDATE`);
    // The store's session is the one that finds out, and gives way.
    await rival.unsafe(`SET deadlock_timeout = '1min'`);
    await rival.unsafe('BEGIN');
    await lock(b);
    let runs = 0;
    let rivalDone: Promise<unknown> = Promise.resolve();
    const plan = planFor([a]);
    await here.acceptTransition(org, plan, async ({ heads, now }, acceptance) => {
      runs += 1;
      if (runs === 1) rivalDone = lock(a).then(() => rival.unsafe('COMMIT'));
      await acceptance.lockGroups([b]);
      return { write: transitionOf({ groupId: a, head: heads.get(a), plan, now }), result: undefined };
    });
    await rivalDone;
    await rival.end();
    expect(runs).toBe(2);
    await here.read(org, async (reader) => expect((await reader.stream(a))?.position).toBe(2));
  });
});
