// The bounded audit record, and challenges that are used once, also when everybody tries at the same time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { timestampFromMillis } from '../../src/protocol/timestamps.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { AUDIT_MAXIMUM } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { lookBehind } from './behind.ts';
import { AGENT, newGroupId, newTenant } from './samples.ts';

describe.each(STORES)('audit and challenges on $name', ({ name, open }) => {
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

  it('what is recorded can be read, in order, page by page', async () => {
    const groupId = newGroupId();
    await opened.store.organizations.recordAudit(org, { stage: 'parse', reason: 'not JSON', code: 'A' });
    const full = { stage: 'domain', reason: 'no', code: 'B', signingHash: 'h', actor: AGENT, actionId: 'x', groupId };
    await opened.store.organizations.recordAudit(org, full);
    await opened.store.read(org, async (reader) => {
      const recordedAt = timestampFromMillis(millis);
      const rows = await reader.audit(0, 10);
      expect(rows).toEqual([
        { id: 1, recordedAt, stage: 'parse', reason: 'not JSON', code: 'A' },
        { id: 2, recordedAt, ...full },
      ]);
      expect(await reader.audit(1, 10)).toEqual(rows.slice(1));
      expect(await reader.audit(0, 1)).toEqual(rows.slice(0, 1));
    });
  });

  it(`keeps the latest ${AUDIT_MAXIMUM} records of an Organization, and those of the others`, async () => {
    const flooded = await newTenant(opened.store);
    const behind = lookBehind(opened);
    const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)';
    await behind.query(`${numbers} INSERT INTO {audit} (organization_id, id, recorded_at, stage, reason, code)
      SELECT '${flooded}', i, '2026-01-01T00:00:00.000Z', 's', 'r', 'c' FROM n`);
    await opened.store.organizations.recordAudit(flooded, { stage: 's', reason: 'last', code: 'c' });
    const count = async (tenant: string) => {
      const [row] = await behind.query(
        `SELECT count(*) AS count, min(id) AS oldest FROM {audit} WHERE organization_id = '${tenant}'`,
      );
      return [Number(row?.['count']), Number(row?.['oldest'])];
    };
    expect(await count(flooded)).toEqual([AUDIT_MAXIMUM, 2]);
    expect((await count(org))[1]).toBe(1);
    await behind.close();
  });

  it('records made at once from everywhere get ids without a gap', async () => {
    const busy = await newTenant(opened.store);
    const record = (store: AuthorityStore, turn: number) =>
      store.organizations.recordAudit(busy, { stage: 's', reason: String(turn), code: 'c' });
    await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, (_, turn) => record(store, turn))));
    await opened.store.read(busy, async (reader) => {
      const ids = (await reader.audit(0, 100)).map(({ id }) => id);
      expect(ids).toEqual(Array.from({ length: 20 * stores.length }, (_, index) => index + 1));
    });
  });

  it('a record that cannot be written changes no answer', async () => {
    const nowhere = 'https://nowhere.example' as OrganizationId;
    await opened.store.organizations.recordAudit(nowhere, { stage: 's', reason: 'r', code: 'c' });
    await opened.store.read(nowhere, async (reader) => expect(await reader.audit(0, 10)).toEqual([]));
  });

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
