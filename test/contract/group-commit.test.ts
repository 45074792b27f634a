// Group commit (design sections 4 and 12): acceptances that wait at the same time share a transaction, and nobody can tell.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { list, one, type Read } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import { SHARING_MAXIMUM } from '../../src/store/group-commit.ts';
import type { AcceptancePlan, Opened, Transition } from '../../src/store/port.ts';
import { TRANSACTIONS_PER_TENANT } from '../../src/store/postgres/connections.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Behind } from './behind.ts';
import { lookBehind } from './behind.ts';
import { AGENT, append, hash, newGroupId, newTenant, planFor, transitionOf, uuid, type Draft } from './samples.ts';

type Answer = { plan: AcceptancePlan; decide?: (opened: Opened) => Partial<Draft> | 'refused' | Error };

describe.each(STORES)('group commit on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    behind = lookBehind(opened);
    org = await newTenant(opened.store);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  /** Takes every turn of the tenant, lets `enqueue` bring its acceptances, and gives the turns back: now they share one. */
  async function together<Result>(enqueue: () => Promise<Result>[]): Promise<PromiseSettledResult<Result>[]> {
    let release: () => void = () => undefined;
    const released = new Promise<void>((go) => (release = go));
    const turns = name === 'postgres' ? TRANSACTIONS_PER_TENANT : 1;
    const held: Promise<void>[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      await new Promise<void>((inside, failed) => {
        const holding = opened.store.acceptTransition(org, planFor([]), async () => {
          inside();
          await released;
          return { result: undefined };
        });
        holding.catch(failed);
        held.push(holding);
      });
    }
    const settled = Promise.allSettled(enqueue());
    release();
    await Promise.all(held);
    return settled;
  }

  /** What each of them found when it was decided; those that were refused wrote nothing. */
  async function shared(drafts: Answer[]): Promise<{ found: Opened[]; settled: PromiseSettledResult<unknown>[] }> {
    const found: Opened[] = [];
    let answered = 0;
    const settled = await together(() =>
      drafts.map(async ({ plan, decide }, at) => {
        const result = await opened.store.acceptTransition<unknown>(org, plan, async (now) => {
          // Nobody has heard of a result as long as others of the transaction are still to be decided.
          if (found[at] === undefined) expect(answered).toBe(0);
          found[at] = now;
          const draft = decide?.(now) ?? {};
          if (draft instanceof Error) throw draft;
          if (draft === 'refused') return { result: 'refused' };
          const groupId = plan.groups[0] as GroupId;
          return {
            write: transitionOf({ groupId, head: now.heads.get(groupId), plan, now: now.now, ...draft }),
            result: at,
          };
        });
        answered += 1;
        return result;
      }),
    );
    return { found, settled };
  }

  const values = (settled: PromiseSettledResult<unknown>[]) =>
    settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'rejected'));

  it('MWP-EVT-005a: one Group: each is decided on the head that the one before it will have left', async () => {
    const groupId = newGroupId();
    const { found, settled } = await shared(Array.from({ length: 5 }, () => ({ plan: planFor([groupId]) })));
    expect(values(settled)).toEqual([0, 1, 2, 3, 4]);
    expect(found.map(({ heads }) => heads.get(groupId)?.position ?? 0)).toEqual([0, 1, 2, 3, 4]);
    await opened.store.read(org, async (reader) => {
      expect((await reader.events(groupId, 0, 10)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
      expect(await reader.stream(groupId)).toMatchObject({ position: 5, revision: 5 });
    });
    expect(await behind.rowCounts()).toMatchObject({ transitions: 5 });
  });

  it('many Groups: each gets its own numbers, and all of them are there', async () => {
    const groups = Array.from({ length: 8 }, newGroupId);
    const plans = [...groups, ...groups].map((groupId) => ({ plan: planFor([groupId]) }));
    const { settled } = await shared(plans);
    expect(settled.every(({ status }) => status === 'fulfilled')).toBe(true);
    await opened.store.read(org, async (reader) => {
      for (const groupId of groups) expect((await reader.stream(groupId))?.position).toBe(2);
    });
  });

  it('an aggregate that one changes is what the next one reads, one by one and in lists, old and new', async () => {
    const groupId = newGroupId();
    const [session, workItem] = [uuid(), uuid()];
    const lease = (state: string) => ({ holderAgentId: AGENT.id, workItemId: workItem, state });
    await append(opened.store, org, groupId, {
      aggregates: [
        { kind: 'session', id: session, document: { agentId: session, sessionEpoch: 1 } },
        { kind: 'lease', id: 'old', document: lease('active') },
      ],
    });
    const reads: Read[] = [
      one('session', session),
      one('lease', 'new'),
      list('lease', { groupId, states: ['active'] }),
      list('lease', { parent: workItem }),
      list('lease', { parent: uuid() }),
    ];
    const plan = () => planFor([groupId], { reads });
    const { found, settled } = await shared([
      {
        plan: plan(),
        decide: () => ({
          aggregates: [
            { kind: 'session', id: session, version: 1, document: { agentId: session, sessionEpoch: 2 } },
            { kind: 'lease', id: 'old', version: 1, document: lease('ended') },
            { kind: 'lease', id: 'new', document: lease('active') },
          ],
        }),
      },
      {
        plan: plan(),
        decide: () => ({
          aggregates: [
            { kind: 'session', id: session, version: 2, document: { agentId: session, sessionEpoch: 3 } },
            { kind: 'lease', id: 'new', version: 1, document: lease('ended') },
          ],
        }),
      },
      { plan: plan(), decide: () => 'refused' },
    ]);
    expect(values(settled)).toEqual([0, 1, 'refused']);
    const seen = found.map(({ loaded }) =>
      loaded.aggregates.map(({ id, version, document }) => [id, version, (document as { state?: string }).state]),
    );
    expect(seen).toEqual([
      [
        [session, 1, undefined],
        ['old', 1, 'active'],
        ['old', 1, 'active'],
      ],
      [
        [session, 2, undefined],
        ['new', 1, 'active'],
        ['new', 1, 'active'],
        ['old', 2, 'ended'],
        ['new', 1, 'active'],
      ],
      [
        [session, 3, undefined],
        ['new', 2, 'ended'],
        ['old', 2, 'ended'],
        ['new', 2, 'ended'],
      ],
    ]);
    await opened.store.read(org, async (reader) => {
      const { aggregates } = await reader.load([one('session', session), list('lease', { parent: workItem })]);
      expect(aggregates.map(({ id, version }) => [id, version]).sort()).toEqual(
        [
          [session, 3],
          ['new', 2],
          ['old', 2],
        ].sort(),
      );
    });
  });

  it('what is read while deciding, texts and stream heads included, holds what the ones before will have written', async () => {
    const groupId = newGroupId();
    const session = uuid();
    const aggregates = [{ kind: 'session' as const, id: session, document: { agentId: session, sessionEpoch: 1 } }];
    const texts = [{ commitment: 'c', value: '"words"' }];
    const plans = [planFor([groupId]), planFor([groupId])];
    const [, second] = await together(
      () =>
        [
          append(opened.store, org, groupId, { plan: plans[0] as AcceptancePlan, aggregates, texts }),
          opened.store.acceptTransition(org, plans[1] as AcceptancePlan, async (_, acceptance) => ({
            result: {
              loaded: (await acceptance.load([one('session', session)])).aggregates.map(({ version }) => version),
              texts: await acceptance.texts(groupId, ['c', 'd']),
              head: (await acceptance.streamHeads([groupId])).get(groupId)?.position,
            },
          })),
        ] as Promise<unknown>[],
    );
    expect(second).toEqual({
      status: 'fulfilled',
      value: { loaded: [1], texts: new Map([['c', '"words"']]), head: 1 },
    });
  });

  it('recent Events of an actor are counted with those that the ones before will have written', async () => {
    const groupId = newGroupId();
    const window = { actor: AGENT, seconds: 60, limit: 'messagesPerMinute' } as const;
    const recent = { read: 'recent', groupId, eventKind: 'message.posted', ...window } as const;
    const post = () => ({
      plan: planFor([groupId], { reads: [recent, { ...recent, eventKind: 'other' }] }),
      decide: () => ({ eventKind: 'message.posted' }),
    });
    await append(opened.store, org, groupId, { eventKind: 'message.posted' });
    const { found } = await shared([post(), post(), post()]);
    expect(found.map(({ loaded }) => loaded.recents.map(({ count }) => count))).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    const oldest = new Set(found.map(({ loaded }) => loaded.recents[0]?.oldest));
    expect(oldest.size).toBe(1);
  });

  it('MWP-EVT-003a: the same Action ID twice in one transaction: the second finds the receipt and the admission', async () => {
    const groupId = newGroupId();
    const key = { actor: AGENT, actionId: uuid() };
    const signingHash = hash(key);
    const plan = () => planFor([groupId], { receipt: key, signingHashes: [signingHash] });
    const { found, settled } = await shared([
      { plan: plan(), decide: () => ({ signingHash }) },
      { plan: plan(), decide: ({ receipt }) => (receipt ? 'refused' : { signingHash }) },
    ]);
    expect(values(settled)).toEqual([0, 'refused']);
    expect(found[1]?.receipt).toMatchObject({ signingHash, revision: 1 });
    expect(found[1]?.admissions.map((row) => row.signingHash)).toEqual([signingHash]);
  });

  it('MWP-EVT-004b: who throws or is refused leaves nothing, and takes nobody along', async () => {
    const groupId = newGroupId();
    const failure = new Error('a broken invariant');
    const { found, settled } = await shared([
      { plan: planFor([groupId]) },
      { plan: planFor([groupId]), decide: () => failure },
      { plan: planFor([groupId]), decide: () => 'refused' },
      { plan: planFor([groupId]) },
    ]);
    expect(values(settled)).toEqual([0, 'rejected', 'refused', 3]);
    expect(settled[1]).toEqual({ status: 'rejected', reason: failure });
    expect(found.map(({ heads }) => heads.get(groupId)?.position ?? 0)).toEqual([0, 1, 1, 1]);
  });

  it('MWP-EVT-004a: what the database refuses is refused for its own sender only; the others are accepted', async () => {
    const groupId = newGroupId();
    const taken = await append(opened.store, org, groupId);
    const before = await behind.rowCounts();
    const spoil = (write: Transition) =>
      void ((write.events[0] as { eventId: string }).eventId = taken.receipt.primaryEventId);
    const settled = await together(() =>
      [0, 1, 2, 3].map((at) => {
        const plan = planFor([groupId]);
        return opened.store.acceptTransition(org, plan, async ({ heads, now }) => {
          const write = transitionOf({ groupId, head: heads.get(groupId), plan, now });
          if (at === 1) spoil(write);
          return { write, result: at };
        });
      }),
    );
    expect(values(settled)).toEqual([0, 'rejected', 2, 3]);
    expect(settled[1]).toMatchObject({ reason: { name: 'StoreFault', kind: 'conflict' } });
    const after = await behind.rowCounts();
    expect([after['transitions'], after['receipts']]).toEqual([
      Number(before['transitions']) + 3,
      Number(before['receipts']) + 3,
    ]);
    await opened.store.read(org, async (reader) => {
      expect((await reader.events(groupId, 0, 10)).map(({ position }) => position)).toEqual([1, 2, 3, 4]);
    });
  });

  it('a decision that locks a further Group has its transaction to itself, announced or not', async () => {
    const [a, b] = [newGroupId(), newGroupId()].sort() as [GroupId, GroupId];
    for (const groupId of [a, b]) await append(opened.store, org, groupId);
    const lockingB = (alone: boolean) => {
      const plan = planFor([a], { ...(alone && { alone }) });
      return opened.store.acceptTransition(org, plan, async (_, acceptance) => ({
        result: (await acceptance.lockGroups([b])).get(b)?.position,
      }));
    };
    const settled = await together(
      () =>
        [
          append(opened.store, org, a).then(() => 'appended'),
          lockingB(false),
          lockingB(true),
          append(opened.store, org, b).then(() => 'appended'),
        ] as Promise<unknown>[],
    );
    expect(values(settled)[0]).toBe('appended');
    expect(values(settled)[3]).toBe('appended');
    for (const position of values(settled).slice(1, 3)) expect([1, 2]).toContain(position);
  });

  it('more than may share one transaction are still all accepted, in order', async () => {
    const groupId = newGroupId();
    const count = 2 * SHARING_MAXIMUM + 1;
    let answered = 0;
    const answeredBefore: number[] = [];
    await together(() =>
      Array.from({ length: count }, async () => {
        const prepare = () => (answeredBefore.push(answered), {});
        await append(opened.store, org, groupId, { prepare });
        answered += 1;
      }),
    );
    expect(answeredBefore).toEqual(Array.from({ length: count }, (_, at) => at - (at % SHARING_MAXIMUM)));
    await opened.store.read(org, async (reader) => {
      const positions = (await reader.events(groupId, 0, 1_000)).map(({ position }) => position);
      expect(positions).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    });
  });
});
