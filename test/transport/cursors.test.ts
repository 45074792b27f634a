// What leads from page to page says no more than the pages do.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signContextPackage } from '../../src/worker/documents.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, path } from './api.ts';

describe.each(STORES)('$name: cursors', ({ open }) => {
  let opened: OpenedStore;
  let now: number;
  let tenant: Tenant;
  let api: Api;
  let mission: Mission;
  let group: string;
  let ada: ActorKey;
  let bob: ActorKey;

  beforeEach(async () => {
    now = Date.now();
    opened = await open({ clock: () => (now += 1) });
    tenant = await Tenant.create(opened.store, { clock: () => now });
    api = new Api(tenant, { clock: () => now });
    [ada, bob] = [await tenant.agent('ada'), await tenant.agent('bob')];
    mission = await Mission.create(tenant, await tenant.human('olga'), ada);
    await mission.join(bob);
    group = `/groups/${path(mission.groupId)}`;
  });
  afterEach(() => opened.close());

  /** Pages of one item: the ids shown, and every cursor on the way. */
  async function walk(key: ActorKey, below: string, idOf: (item: unknown) => string) {
    const walked = { shown: [] as string[], cursors: [] as string[] };
    for (let after = ''; ;) {
      const { status, json } = await api.get(key, `${group}/${below}?limit=1${after}`);
      expect(status).toBe(200);
      walked.shown.push(...json.items.map(idOf));
      if (json.next === undefined) return walked;
      walked.cursors.push(json.next);
      after = `&after=${path(json.next)}`;
    }
  }

  const workItemId = (item: unknown) => (item as { workItem: { workItemId: string } }).workItem.workItemId;
  const memberId = (item: unknown) => (item as { member: { id: string } }).member.id;

  it('MWP-MSN-011: a provisional member learns from no cursor who else is a member, nor what else is done', async () => {
    for (let count = 0; count < 4; count += 1) await mission.authorize();
    const dora = await tenant.agent('dora');
    const { eventId } = (await api.get(ada, `${group}/events?limit=1`)).json.items[0] as unknown as { eventId: string };
    const contextPackage = signContextPackage(ada, {
      missionId: mission.missionId,
      groupId: mission.groupId,
      sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: [eventId] },
      summary: 'What came before',
      generatedAt: tenant.now(),
    });
    const provisional = { provisional: true, provisionalExpiresAt: mission.later(600_000), contextPackage };
    await mission.accept(ada, 'membership.change', { principal: dora.principal, roles: ['worker'], ...provisional });
    const offered = [await mission.authorize(), await mission.authorize(), await mission.authorize()];
    for (const one of offered) await mission.offer(one, [dora]);
    expect(await walk(dora, 'memberships', memberId)).toEqual({ shown: [dora.principal.id], cursors: [] });
    const ids = [...offered].sort();
    expect(await walk(dora, 'work-items', workItemId)).toEqual({ shown: ids, cursors: ids.slice(0, -1) });
  });

  it('MWP-MSN-010d: a late member learns from no cursor what was there before its start', async () => {
    for (let count = 0; count < 4; count += 1) await mission.authorize();
    const { headSequence } = (await api.get(ada, group)).json;
    const carl = await tenant.agent('carl');
    const start = { roles: ['worker'], visibilityAfterSequence: headSequence };
    await mission.accept(ada, 'membership.change', { principal: carl.principal, ...start });
    const ids = [await mission.authorize(), await mission.authorize()].sort();
    expect(await walk(carl, 'work-items', workItemId)).toEqual({ shown: ids, cursors: ids.slice(0, -1) });
  });

  it('MWP-WRK-030b: after 5 the replay begins at 6; while the Group goes on it misses no Event and repeats none', async () => {
    for (let count = 0; count < 3; count += 1) await mission.authorize();
    const replayed: number[] = [];
    let isOver = false;
    const traffic = (async () => {
      for (let count = 0; count < 8; count += 1) await mission.authorize();
      isOver = true;
    })();
    let head = 0;
    for (let after = 5; !isOver || after < head;) {
      const { json } = await api.get(ada, `${group}/events?after=${after}&limit=2`);
      replayed.push(...(json.items as unknown as { sequence: number }[]).map(({ sequence }) => sequence));
      after = json.throughSequence;
      head = json.headSequence;
      // A reader that has all leaves the traffic its turn.
      await nextTurn();
      if (isOver) head = (await api.get(ada, group)).json.headSequence;
    }
    await traffic;
    expect(head).toBe(2 + 3 + 8);
    expect(replayed).toEqual(Array.from({ length: head - 5 }, (_, place) => place + 6));
  });
});
