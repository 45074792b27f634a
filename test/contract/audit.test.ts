// The audit record of refusals: what it holds, whom it lets go first, and when.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { timestampFromMillis } from '../../src/protocol/timestamps.ts';
import type { AuditEntry, AuditRow, AuthorityStore } from '../../src/store/port.ts';
import { AUDIT_EXPIRED_AT_ONCE, AUDIT_MAXIMUM, AUDIT_TIDIED_EVERY } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { lookBehind, type Behind } from './behind.ts';
import { AGENT, newGroupId, newTenant } from './samples.ts';

const DAY = 86_400_000;
const OTHER = { type: 'human', id: 'urn:test:human:other' } as const;

describe.each(STORES)('the audit on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let stores: AuthorityStore[];
  let millis = Date.parse('2026-05-01T00:00:00Z');
  beforeAll(async () => {
    opened = await open({ clock: () => millis });
    behind = lookBehind(opened);
    stores = name === 'postgres' ? [opened.store, await opened.another()] : [opened.store];
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  const record = (org: OrganizationId, entry: Partial<AuditEntry> = {}, store = opened.store) =>
    store.organizations.recordAudit(org, { stage: 'signature', reason: 'r', code: 'C', caller: AGENT, ...entry });
  const page = (org: OrganizationId, after = 0, limit = 200, groupId?: string): Promise<AuditRow[]> =>
    opened.store.read(org, (reader) => reader.audit(after, limit, groupId));
  const column = async (sql: string) =>
    (await behind.query(sql)).map((row) => Object.values(row).map(String).join(' '));

  /** `count` records from `first` on, as if they had been written one after the other. */
  async function fill(org: OrganizationId, first: number, count: number, entry: { caller: string; code: string }) {
    await behind.query(`WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${first + count - 1})
      INSERT INTO {audit} (organization_id, id, recorded_at, stage, reason, code, caller_type, caller_id)
      SELECT '${org}', i, '2026-04-30T00:00:00.000Z', 'signature', 'r', '${entry.code}', 'agent', '${entry.caller}' FROM n`);
  }

  const full: AuditEntry = {
    stage: 'domain',
    reason: 'no',
    code: 'B',
    signingHash: 'h',
    actor: AGENT,
    actionId: 'x',
    keyId: 'k',
    receivedHash: 'rh',
    documentKind: 'evidence',
    documentPath: '/payload/evidence/0',
    documentHash: 'dh',
    documentKeyId: 'dk',
    caller: OTHER,
  };

  it('MWP-SDV-018c: what is recorded can be read, in order, page by page, each member as it was', async () => {
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    await opened.store.organizations.recordAudit(org, { stage: 'parse', reason: 'not JSON', code: 'A' });
    await opened.store.organizations.recordAudit(org, { ...full, groupId });
    const recordedAt = timestampFromMillis(millis);
    const rows = await page(org);
    expect(rows).toEqual([
      { id: 1, recordedAt, stage: 'parse', reason: 'not JSON', code: 'A' },
      { id: 2, recordedAt, ...full, groupId },
    ]);
    expect(await page(org, 1)).toEqual(rows.slice(1));
    expect(await page(org, 0, 1)).toEqual(rows.slice(0, 1));
  });

  it('MWP-SDV-018d: what was refused in a Group is found by its id, page by page, and nothing else', async () => {
    const org = await newTenant(opened.store);
    const other = await newTenant(opened.store);
    const [mine, theirs] = [newGroupId(), newGroupId()];
    for (const groupId of [mine, theirs, undefined, mine, mine]) await record(org, groupId ? { groupId } : {});
    await record(other, { groupId: mine });
    const ids = async (after: number, limit: number, groupId: string) =>
      (await page(org, after, limit, groupId)).map(({ id }) => id);
    expect(await ids(0, 10, mine)).toEqual([1, 4, 5]);
    expect(await ids(1, 1, mine)).toEqual([4]);
    expect(await ids(0, 10, theirs)).toEqual([2]);
    expect(await ids(0, 10, newGroupId())).toEqual([]);
  });

  it('records made at once from everywhere get ids without a gap', async () => {
    const busy = await newTenant(opened.store);
    const turns = Array.from({ length: 20 }, (_, turn) => turn);
    await Promise.all(stores.flatMap((store) => turns.map((turn) => record(busy, { reason: String(turn) }, store))));
    const ids = (await page(busy)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 20 * stores.length }, (_, index) => index + 1));
  });

  it('a record that cannot be written changes no answer', async () => {
    const nowhere = 'https://nowhere.example' as OrganizationId;
    await record(nowhere);
    expect(await page(nowhere)).toEqual([]);
  });

  it(`is tidied at every ${AUDIT_TIDIED_EVERY}th record, never holds more than ${AUDIT_MAXIMUM}, and leaves those of others`, async () => {
    const org = await newTenant(opened.store);
    const quiet = await newTenant(opened.store);
    await record(quiet);
    await fill(org, 1, AUDIT_MAXIMUM - 2, { caller: AGENT.id, code: 'C' });
    const bounds = () => column(`SELECT count(*), min(id), max(id) FROM {audit} WHERE organization_id = '${org}'`);
    await record(org);
    expect(await bounds()).toEqual([`${AUDIT_MAXIMUM - 1} 1 ${AUDIT_MAXIMUM - 1}`]);
    await record(org);
    const left = AUDIT_MAXIMUM - AUDIT_TIDIED_EVERY;
    expect(await bounds()).toEqual([`${left} ${AUDIT_TIDIED_EVERY + 1} ${AUDIT_MAXIMUM}`]);
    expect(await page(quiet)).toHaveLength(1);
  });

  it('a flood of one caller for one reason washes away its own records, and no other', async () => {
    const org = await newTenant(opened.store);
    await record(org, { reason: 'the one', code: 'AUTH_FORBIDDEN', stage: 'domain' }); // by the flooder itself
    await record(org, { reason: 'of another', caller: OTHER });
    const flood = AUDIT_MAXIMUM - 3;
    await fill(org, 3, flood, { caller: AGENT.id, code: 'C' });
    await record(org, { reason: 'last' });
    const left = await column(`SELECT reason, count(*) FROM {audit} WHERE organization_id = '${org}' GROUP BY reason
      ORDER BY reason`);
    const kept = AUDIT_MAXIMUM - AUDIT_TIDIED_EVERY - 3;
    expect(left).toEqual(['last 1', 'of another 1', `r ${kept}`, 'the one 1']);
    const [oldest] = await column(`SELECT min(id) FROM {audit} WHERE organization_id = '${org}' AND reason = 'r'`);
    expect(Number(oldest)).toBe(3 + flood - kept);
  });

  it('of several floods, each keeps the same number', async () => {
    const org = await newTenant(opened.store);
    await fill(org, 1, 6_000, { caller: AGENT.id, code: 'C' });
    await fill(org, 6_001, 500, { caller: 'urn:test:small', code: 'C' });
    await fill(org, 6_501, AUDIT_MAXIMUM - 6_501, { caller: AGENT.id, code: 'D' });
    await record(org, { caller: OTHER });
    const left = await column(`SELECT caller_id, code, count(*) FROM {audit} WHERE organization_id = '${org}'
      GROUP BY caller_id, code ORDER BY caller_id, code`);
    const sizes = Object.fromEntries(
      left.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]),
    );
    expect(sizes).toEqual({
      [`${AGENT.id} C`]: String(AUDIT_MAXIMUM - AUDIT_TIDIED_EVERY - 3_499 - 501),
      [`${AGENT.id} D`]: '3499',
      'urn:test:small C': '500',
      [`${OTHER.id} C`]: '1',
    });
  });

  it('what is older than the policy keeps it goes when something is recorded, a bounded number at a time', async () => {
    const org = await newTenant(opened.store);
    for (let time = 0; time < AUDIT_EXPIRED_AT_ONCE + 2; time += 1) await record(org, { reason: 'old' });
    const began = millis;
    const oldOnes = async () => (await page(org)).filter(({ reason }) => reason === 'old').length;
    millis = began + DEFAULT_POLICY.auditRetentionDays * DAY;
    await record(org);
    expect(await oldOnes()).toBe(AUDIT_EXPIRED_AT_ONCE + 2);
    millis += 1;
    await record(org);
    expect(await oldOnes()).toBe(2);
    await record(org);
    expect(await oldOnes()).toBe(0);
    expect(await page(org)).toHaveLength(3);
    const policy = { ...DEFAULT_POLICY, version: DEFAULT_POLICY.version + 1, auditRetentionDays: 1 };
    await opened.store.organizations.changeRegistry(org, { policy });
    millis += DAY + 1;
    await record(org);
    expect(await page(org)).toHaveLength(1);
    millis = began;
  });
});
