// Pages of lists and of the replay: bounded, complete, and refused when asked for wrongly.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { path, refusalIn, type Api } from './api.ts';
import { expectValid, playMission, type PlayedMission } from './played-mission.ts';

describe.each(STORES)('$name: paging', ({ open }) => {
  // One played Mission for all: every test here only reads.
  let opened: OpenedStore;
  let played: PlayedMission;
  let api: Api;
  let group: string;

  beforeAll(async () => {
    opened = await open();
    played = await playMission(opened.store);
    ({ api, group } = played);
  });
  afterAll(() => opened.close());

  it('MWP-EVT-009b: /events: every Event from the first, valid, without a hole, in bounded pages', async () => {
    const head = (await api.get(played.olga, group)).json.headSequence;
    const events: number[] = [];
    for (let after = 0; ;) {
      const { json } = await api.get(played.olga, `${group}/events?after=${after}&limit=3`);
      expectValid('event', json.items);
      expect(json.items.length).toBeLessThanOrEqual(3);
      events.push(...json.items.map(({ sequence }) => sequence));
      after = json.throughSequence;
      expect(json.headSequence).toBe(head);
      expect(json.next).toBe(after < head ? String(after) : undefined);
      if (json.next === undefined) break;
    }
    expect(events).toEqual(Array.from({ length: head }, (_, position) => position + 1));
    for (const after of [head, head + 1, 999_999_999_999_999]) {
      const beyond = (await api.get(played.olga, `${group}/events?after=${after}`)).json;
      expect(beyond).toEqual({ items: [], throughSequence: head, headSequence: head });
    }
  });

  it('paging: any page size walks the same list, and an id of another list leads nowhere wrong', async () => {
    for (const below of ['work-items', 'memberships', 'conversations', 'leases', 'budgets', 'artifacts', 'evidence']) {
      const whole = await played.list(below);
      expect(await api.all(played.ada, `${group}/${below}`, 1)).toEqual(whole);
      expect(await api.all(played.ada, `${group}/${below}`, 2)).toEqual(whole);
    }
    const odd = await api.get(played.ada, `${group}/work-items?after=${path('zzz not an id ~')}`);
    expect(odd.json).toEqual({ items: [] });
  });

  it('paging: a wrong limit or after is refused by its shape, the largest is not', async () => {
    const queries = [
      'limit=0',
      'limit=201',
      'limit=-1',
      'limit=1e2',
      'limit=',
      'limit=x',
      'limit=99999999999999999999',
    ];
    for (const below of [`${group}/work-items`, `${group}/events`, `${group}/policy-log`, '/me', '/missions']) {
      for (const query of queries) {
        expect(refusalIn(await api.get(played.ada, `${below}?${query}`))).toBe('400 SCHEMA_VALIDATION_FAILED');
      }
      expect((await api.get(played.ada, `${below}?limit=200`)).status).toBe(200);
      expect((await api.get(played.ada, `${below}?after=999999999999999`)).json.next).toBeUndefined();
    }
    for (const after of ['-1', 'x', '1.5', '9'.repeat(16), '']) {
      expect(refusalIn(await api.get(played.ada, `${group}/events?after=${after}`))).toBe(
        '400 SCHEMA_VALIDATION_FAILED',
      );
    }
    for (const after of ['', '%00', path('é'), 'a'.repeat(1_101)]) {
      expect(refusalIn(await api.get(played.ada, `${group}/leases?after=${after}`))).toBe(
        '400 SCHEMA_VALIDATION_FAILED',
      );
    }
    expect(refusalIn(await api.get(played.ada, `${group}/work-items?state=nice`))).toBe('400 SCHEMA_VALIDATION_FAILED');
  });
});
