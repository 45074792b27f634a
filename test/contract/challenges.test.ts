// Challenges are used once, also when everybody tries at the same time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { timestampFromMillis } from '../../src/protocol/timestamps.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { lookBehind } from './behind.ts';
import { newTenant } from './samples.ts';

describe.each(STORES)('challenges on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let stores: AuthorityStore[];
  let millis = Date.parse('2026-05-01T00:00:00Z');
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open({ clock: () => millis });
    stores = name === 'postgres' ? [opened.store, await opened.another()] : [opened.store];
    org = await newTenant(opened.store);
  });
  afterAll(() => opened.close());

  const soon = () => timestampFromMillis(millis + 60_000);
  const use = (id: string, expiresAt: string) => opened.store.organizations.consumeChallenge(org, id, expiresAt);

  it('a challenge is used once', async () => {
    expect(await use('c1', soon())).toBe(true);
    expect(await use('c1', soon())).toBe(false);
    expect(await use('c2', soon())).toBe(true);
  });

  it('a challenge that everybody uses at once, over all processes, is used once', async () => {
    const expiresAt = soon();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, turn) =>
        (stores[turn % stores.length] as AuthorityStore).organizations.consumeChallenge(org, 'raced', expiresAt),
      ),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  it('a challenge is of no use from the moment it expires, also when it has been forgotten', async () => {
    const expiresAt = soon();
    expect(await use('c3', expiresAt)).toBe(true);
    expect(await use('c4', timestampFromMillis(millis + 1))).toBe(true);
    expect(await use('c5', timestampFromMillis(millis))).toBe(false);
    millis += 60_000;
    expect(await use('c6', soon())).toBe(true);
    const behind = lookBehind(opened);
    const left = await behind.query(`SELECT challenge_id FROM {challenges} WHERE organization_id = '${org}'`);
    await behind.close();
    expect(left).toEqual([{ challenge_id: 'c6' }]);
    expect(await use('c3', expiresAt)).toBe(false);
  });
});
