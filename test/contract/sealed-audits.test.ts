// Sealed audits and the keys of tenants in both stores: what a row may become, what goes with it, and what two at once find.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { AuditRange, SealedAudit } from '../../src/store/port/sealed-audits.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { lookBehind, type Behind } from './behind.ts';
import { AGENT, newGroupId, newTenant, planFor, transitionOf } from './samples.ts';

const FAR = '2126-01-01T00:00:00.000Z';

describe.each(STORES)('sealed audits on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    behind = lookBehind(opened);
  });
  beforeEach(async () => {
    org = await newTenant(opened.store);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  const read = <Answer>(work: Parameters<typeof opened.store.read<Answer>>[1]) => opened.store.read(org, work);
  const plain = (groupId?: string) => read(async (reader) => (await reader.audit(0, 100, groupId)).map(({ id }) => id));
  const refuse = (groupId?: string) =>
    opened.store.organizations.recordAudit(org, {
      stage: 'domain',
      reason: 'r',
      code: 'C',
      caller: AGENT,
      ...(groupId !== undefined && { groupId }),
    });

  /** A Group of which records 1 and 3 are, with an archival that says so. */
  async function waiting(): Promise<AuditRange> {
    const groupId = newGroupId();
    for (const of of [groupId, undefined, groupId]) await refuse(of);
    const refusals = await read((reader) => reader.refusals(groupId));
    const range = { groupId, records: refusals.count, firstId: refusals.firstId!, lastId: refusals.lastId! };
    const plan = planFor([groupId], { reads: [] });
    await opened.store.acceptTransition(org, plan, async ({ now }, acceptance) => {
      expect(await acceptance.record().refusals(groupId)).toEqual(refusals);
      return { write: { ...transitionOf({ groupId, plan, now }), auditToSeal: range }, result: undefined };
    });
    return range;
  }

  const sealed = (range: AuditRange, more: Partial<SealedAudit> = {}): SealedAudit => ({
    ...range,
    format: 1,
    keyVersion: 1,
    lastRecordedAt: '2026-01-01T00:00:00.000Z',
    wrappedKey: 'k',
    blobHash: 'b',
    ...more,
  });

  it('waits since the transition that wrote it, and is complete with the plain records gone, once', async () => {
    const range = await waiting();
    expect([range.records, range.firstId, range.lastId]).toEqual([2, 1, 3]);
    const { sealedAudits } = opened.store;
    expect(await sealedAudits.due(org, '', 10)).toEqual([range]);
    expect(await sealedAudits.due(org, range.groupId, 10)).toEqual([]);
    expect(await read((reader) => reader.sealedAudit(range.groupId))).toBeUndefined();
    await refuse(range.groupId);
    expect(await sealedAudits.complete(org, sealed(range))).toBe(true);
    expect(await sealedAudits.complete(org, sealed(range, { blobHash: 'another' }))).toBe(false);
    // Of others, and what came later, nothing is gone.
    expect([await plain(range.groupId), await plain()]).toEqual([[4], [2, 4]]);
    expect(await sealedAudits.due(org, '', 10)).toEqual([]);
    expect(await read((reader) => reader.sealedAudit(range.groupId))).toMatchObject(sealed(range));
  });

  it('refusals of a Group are counted without those of others', async () => {
    expect(await read((reader) => reader.refusals('urn:group:none'))).toEqual({ count: 0 });
    const range = await waiting();
    expect(await read((reader) => reader.refusals(range.groupId))).toEqual({ count: 2, firstId: 1, lastId: 3 });
  });

  it('a transition that is not accepted leaves nothing to seal', async () => {
    const groupId = newGroupId();
    const plan = planFor([groupId], { reads: [] });
    const failing = opened.store.acceptTransition(org, plan, async ({ now }) => {
      const write = {
        ...transitionOf({ groupId, plan, now }),
        auditToSeal: { groupId, records: 0, firstId: 0, lastId: 0 },
      };
      return { write, result: undefined };
    });
    await expect(failing).rejects.toThrow();
    expect(await opened.store.sealedAudits.due(org, '', 10)).toEqual([]);
    expect(await read((reader) => reader.stream(groupId))).toBeUndefined();
  });

  it('the next number comes after all that were ever given, plain or sealed or purged', async () => {
    const range = await waiting();
    await opened.store.sealedAudits.complete(org, sealed(range));
    await refuse();
    await opened.store.sealedAudits.purge(org, range.groupId, 'sealed');
    await behind.query(`DELETE FROM {audit} WHERE organization_id = '${org}' AND id > 3`);
    await refuse();
    expect(await plain()).toEqual([2, 4]);
  });

  it('is found by the time of its last record until it is purged', async () => {
    const range = await waiting();
    const { sealedAudits } = opened.store;
    await sealedAudits.complete(org, sealed(range));
    expect(await sealedAudits.expired(org, '2026-01-01T00:00:00.000Z', '', 10)).toEqual([]);
    const found = await sealedAudits.expired(org, '2026-01-01T00:00:00.001Z', '', 10);
    expect(found).toMatchObject([sealed(range)]);
    expect(await sealedAudits.expired(org, FAR, range.groupId, 10)).toEqual([]);
    await sealedAudits.purge(org, range.groupId, 'sealed');
    await sealedAudits.purge(org, range.groupId, 'sealed');
    expect(await sealedAudits.expired(org, FAR, '', 10)).toEqual([]);
    expect(await read((reader) => reader.sealedAudit(range.groupId))).toBeUndefined();
    expect(await sealedAudits.complete(org, sealed(range))).toBe(false);
    const [row] = await behind.query(`SELECT * FROM {sealed_audits} WHERE organization_id = '${org}'`);
    expect(row).toMatchObject({ state: 'purged', wrapped_key: null, blob_hash: null });
  });

  it('what waits in vain is purged and waits no more', async () => {
    const range = await waiting();
    await opened.store.sealedAudits.purge(org, range.groupId, 'due');
    expect(await opened.store.sealedAudits.due(org, '', 10)).toEqual([]);
  });

  it('what waited and is sealed by now is not purged as waiting, nor what waits as sealed', async () => {
    const range = await waiting();
    const { sealedAudits } = opened.store;
    await sealedAudits.purge(org, range.groupId, 'sealed');
    expect(await sealedAudits.due(org, '', 10)).toHaveLength(1);
    await sealedAudits.complete(org, sealed(range));
    await sealedAudits.purge(org, range.groupId, 'due');
    expect(await read((reader) => reader.sealedAudit(range.groupId))).toMatchObject(sealed(range));
  });

  it('MWP-FND-013c: nobody moves it back, changes what was sealed, or deletes it', async () => {
    const range = await waiting();
    const of = `WHERE organization_id = '${org}'`;
    const forbidden = (change: string) =>
      expect(behind.query(`UPDATE {sealed_audits} SET ${change} ${of}`), change).rejects.toThrow(
        /never changed|CHECK|check/,
      );
    await forbidden(`records = 3`);
    await forbidden(`state = 'sealed'`);
    await forbidden(`state = 'other'`);
    await opened.store.sealedAudits.complete(org, sealed(range));
    for (const change of [
      `state = 'due', wrapped_key = NULL, blob_hash = NULL`,
      `wrapped_key = 'other'`,
      `state = 'purged', wrapped_key = NULL, blob_hash = NULL, purged_at = '${FAR}', records = 3`,
      `state = 'purged', wrapped_key = NULL, blob_hash = NULL, purged_at = '${FAR}', last_id = 1`,
      `state = 'purged', purged_at = '${FAR}'`,
      `organization_id = 'other'`,
    ]) {
      await forbidden(change);
    }
    await opened.store.sealedAudits.purge(org, range.groupId, 'sealed');
    await forbidden(`state = 'sealed', wrapped_key = 'k', blob_hash = 'b', purged_at = NULL`);
    await expect(behind.query(`DELETE FROM {sealed_audits} ${of}`)).rejects.toThrow(/never changed/);
  });

  it('a tenant has one key, whoever asks for it first, and it never changes', async () => {
    const stores = name === 'postgres' ? [opened.store, await opened.another()] : [opened.store];
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, at) => stores[at % stores.length]!.sealedAudits.tenantKey(org, () => `key ${at}`)),
    );
    expect(new Set(asked.map(({ version, sealed: key }) => `${version} ${key}`)).size).toBe(1);
    expect(await read((reader) => reader.tenantKey(1))).toEqual(asked[0]);
    expect(await read((reader) => reader.tenantKey(2))).toBeUndefined();
    const other = await newTenant(opened.store);
    expect(await opened.store.read(other, (reader) => reader.tenantKey(1))).toBeUndefined();
    await expect(
      behind.query(`UPDATE {tenant_keys} SET sealed = 'other' WHERE organization_id = '${org}'`),
    ).rejects.toThrow(/never changed/);
  });
});
