// Design section 12: one round trip to load, one to write. Counted on the wire, on connections that are warm and new.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { one } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Wire } from './proxy.ts';
import { openWire } from './proxy.ts';
import { AGENT, newGroupId, newTenant, planFor, transitionOf } from './samples.ts';

const TIMES = 20;

describe.each(STORES.filter(({ name }) => name === 'postgres'))('round trips of $name', ({ open }) => {
  let direct: OpenedStore;
  let wire: Wire;
  let store: AuthorityStore;
  let org: OrganizationId;
  let groupId: GroupId;
  beforeAll(async () => {
    direct = await open();
    wire = await openWire(direct.address);
    store = await openPostgresStore({ url: wire.url, maxConnections: 1 });
    org = await newTenant(store);
    groupId = newGroupId();
    await accept();
  });
  afterAll(async () => {
    await store.close();
    await wire.close();
    await direct.close();
  });

  async function accept({ moreReads = 0, bodyBytes = 0 } = {}): Promise<void> {
    const plan = planFor([groupId], {
      actor: { principal: AGENT, mode: 'shared' },
      tree: { groupId, mode: 'shared' },
      signingHashes: ['h1', 'h2'],
      reads: [one('session', AGENT.id), one('group', groupId)],
    });
    await store.acceptTransition(org, plan, async ({ heads, now }, acceptance) => {
      for (let round = 0; round < moreReads; round += 1) await acceptance.load([one('mission', 'm')]);
      const write = transitionOf({ groupId, head: heads.get(groupId), plan, now, events: 2 });
      write.command.body = 'x'.repeat(bodyBytes);
      return { write, result: undefined };
    });
  }

  async function roundTrips(work: () => Promise<unknown>): Promise<number> {
    const before = wire.roundTrips();
    for (let time = 0; time < TIMES; time += 1) await work();
    return (wire.roundTrips() - before) / TIMES;
  }

  it('an accepted Command takes two: BEGIN, tenant, locks, clock and load; then all writes and COMMIT', async () => {
    expect(await roundTrips(() => accept())).toBe(2);
  });

  it('an accepted Command that reads a second time takes three', async () => {
    expect(await roundTrips(() => accept({ moreReads: 1 }))).toBe(3);
  });

  it('a Command of a mebibyte takes no more: its COMMIT does not wait for an answer', async () => {
    expect(await roundTrips(() => accept({ bodyBytes: 1_048_576 }))).toBe(2);
  });

  it('a refused Command waits for one; its ROLLBACK is not waited for', async () => {
    const refuse = () => store.acceptTransition(org, planFor([groupId]), async () => ({ result: 'no' }));
    expect(await roundTrips(refuse)).toBeLessThanOrEqual(2);
  });

  it('the evidence for a Command takes at most two', async () => {
    const look = () => store.organizations.keyEvidence(org, ['urn:key:authority']);
    await look();
    expect(await roundTrips(look)).toBeLessThanOrEqual(2);
  });
});
