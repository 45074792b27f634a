// One acceptance is one transaction: what the port says about `acceptTransition`, against both engines.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { append, newGroupId, newTenant, planFor, transitionOf } from './samples.ts';

describe.each(STORES)('acceptance on $name', ({ open }) => {
  let opened: OpenedStore;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    org = await newTenant(opened.store);
  });
  afterAll(() => opened.close());

  it('GDE-1: everything that one accepted Command writes can be read afterwards, as written', async () => {
    const groupId = newGroupId();
    const written = await append(opened.store, org, groupId, {
      events: 2,
      policyEntries: 2,
      texts: [{ commitment: 'c1', value: '"\\u0000 text ☃"' }],
    });
    await opened.store.read(org, async (reader) => {
      expect(await reader.stream(groupId)).toEqual(written.streams[0]?.head);
      expect(await reader.events(groupId, 0, 10)).toEqual(written.events);
      expect(await reader.events(groupId, 1, 10)).toEqual(written.events.slice(1));
      expect(await reader.event(written.events[0]?.eventId ?? '')).toEqual(written.events[0]);
      expect(await reader.receipt(written.receipt)).toEqual(written.receipt);
      expect(await reader.command(written.command.signingHash)).toEqual(written.command);
      expect(await reader.admission(written.command.signingHash)).toEqual(written.admissions[0]);
      expect(await reader.policyLog(groupId, 0, 10)).toEqual(written.policyLog);
      expect(await reader.texts(groupId, ['c1', 'c2'])).toEqual(new Map([['c1', '"\\u0000 text ☃"']]));
      expect(await reader.texts(newGroupId(), ['c1'])).toEqual(new Map());
    });
  });

  it('a head that is not where it was is a conflict, and leaves nothing', async () => {
    const groupId = newGroupId();
    await append(opened.store, org, groupId);
    const plan = planFor([groupId]);
    const stale = opened.store.acceptTransition(org, plan, async ({ now }) => ({
      write: transitionOf({ groupId, plan, now }),
      result: undefined,
    }));
    await expect(stale).rejects.toMatchObject({ name: 'StoreFault', kind: 'conflict' });
    await opened.store.read(org, async (reader) => {
      expect(await reader.receipt(plan.receipt)).toBeUndefined();
      expect((await reader.stream(groupId))?.position).toBe(1);
    });
  });
});
