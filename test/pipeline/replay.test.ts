// Replay equivalence can fail: what is changed behind the service's back is found, and named.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyEverything } from '../support/verified.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('design 3: replay on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let mission: Mission;

  beforeEach(async () => {
    opened = await open();
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store);
    mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
    await mission.authorize();
    await liftGuards();
  });

  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  /** The triggers that keep history immutable, off for this test's vandalism. */
  async function liftGuards(): Promise<void> {
    if (opened.store.engine === 'postgres') {
      await behind.query('SET session_replication_role = replica');
      return;
    }
    const triggers = await behind.query("SELECT name FROM sqlite_master WHERE type = 'trigger'");
    for (const { name } of triggers) await change(`DROP TRIGGER ${String(name)}`);
  }

  async function change(sql: string): Promise<void> {
    await behind.query(sql).catch((error: unknown) => {
      // The SQLite driver has no rows to give for a change; it is done all the same.
      if (!String(error).includes('does not return data')) throw error;
    });
  }

  const faults = async () => (await verifyEverything(tenant.store, tenant.organization)).join('\n');

  const group = () => `'${mission.groupId}'`;

  it('finds nothing where nothing was touched', async () => {
    expect(await faults()).toBe('');
  });

  it.each([
    [
      'a state row with another hash',
      `UPDATE {aggregates} SET hash = 'sha256:0' WHERE kind = 'mission'`,
      'not what the Events say in hash',
    ],
    ['a state row that is gone', `DELETE FROM {aggregates} WHERE kind = 'lease'`, 'it is not stored'],
    ['an Event that is gone', `DELETE FROM {events} WHERE position = 1 AND group_id = GROUP`, 'position 2 where 1'],
    [
      'a cut tail',
      `DELETE FROM {events} WHERE position = 2 AND group_id = GROUP`,
      'position is 2 in the head, and 1 by the rows',
    ],
    [
      'a changed body',
      `UPDATE {events} SET body = replace(body, 'urn:test', 'urn:TEST') WHERE group_id = GROUP`,
      'not what was signed in actor',
    ],
    [
      'a changed column',
      `UPDATE {events} SET kind = 'work.cancelled' WHERE position = 2 AND group_id = GROUP`,
      'not what was signed in kind',
    ],
    [
      'a changed signing hash',
      `UPDATE {events} SET signing_hash = 'sha256:0' WHERE position = 1 AND group_id = GROUP`,
      'chain breaks',
    ],
    ['a head that moved', `UPDATE {streams} SET chain_hash = 'sha256:0'`, 'chainHash is sha256:0 in the head'],
  ])('finds %s', async (_, sql, expected) => {
    await change(sql.replace('GROUP', group()));
    expect(await faults()).toContain(expected);
  });
});
