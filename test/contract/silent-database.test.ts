// A PostgreSQL that stays connected and says nothing more, as behind a frozen machine or a firewall that forgot: who asks
// is told so in time, on old connections and on new ones.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import {
  ANSWER_TIMEOUT_MS,
  LOCK_TIMEOUT_MS,
  OPEN_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
} from '../../src/store/postgres/session.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { leaseDatabase } from '../support/databases.ts';
import { openWire, type Wire } from './proxy.ts';
import { newTenant } from './samples.ts';

/** What our own SDK, and most clients, wait for an answer. */
const CLIENT_PATIENCE_MS = 30_000;
const SLACK_MS = 3_000;

describe('a database that is silent', () => {
  let giveBack: () => void;
  let wire: Wire;
  let store: AuthorityStore;
  beforeAll(async () => {
    const lease = await leaseDatabase();
    ({ giveBack } = lease);
    wire = await openWire(lease.url);
    store = await openPostgresStore({ url: wire.url, maxConnections: 2 });
  });
  afterAll(async () => {
    await store.close();
    await wire.close();
    giveBack();
  });

  it('the bounds stand in their order, well below the patience of clients', () => {
    const bounds = [LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, ANSWER_TIMEOUT_MS, CLIENT_PATIENCE_MS / 2 + 1];
    expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
    expect(new Set(bounds).size).toBe(bounds.length);
  });

  it(
    'a request fails as unavailable within its bound, and so does one that opens a new connection',
    { timeout: 60_000 },
    async () => {
      const org = await newTenant(store);
      const ask = async () => {
        const begun = performance.now();
        await expect(store.organizations.policy(org)).rejects.toMatchObject({ kind: 'unavailable' });
        return performance.now() - begun;
      };
      wire.mute(true);
      expect(await ask()).toBeLessThan(ANSWER_TIMEOUT_MS + SLACK_MS);
      const [onNew, problems] = await Promise.all([ask(), store.problems()]);
      expect(onNew).toBeLessThan(OPEN_TIMEOUT_MS + SLACK_MS);
      expect(problems).toEqual(['the database does not answer']);
    },
  );
});
